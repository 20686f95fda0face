"""Asks for known vulnerabilities of what the locks pin, of PyPI by pip-audit and of npm by its own audit.

Ends with 0 where there are none, 1 where there are some, and 2 where a lock could not be audited as a whole:
without a network, or behind an index that has packages and no advisories. Nothing is resolved or installed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LOCKS = (
    "requirements*.txt",
    "examples/*/environment.txt",
    "engine_build/*/requirements.txt",
)
PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==([^ ;\\]+)", re.MULTILINE)
SHOWN = 5
PROGRAMS = (".venv-audit/bin/pip-audit", "npm")
"""What is asked where the command line names no others."""


def main(root: Path, pip_audit: str, npm: str) -> int:
    """Audit the locks below a folder with these two programs; what the process ends with."""
    found, missed = list[str](), list[str]()
    for judged in (_python(root, pip_audit), _node(root, npm)):
        for is_missed, line in judged:
            (missed if is_missed else found).append(line)
    for line in found:
        print(line)
    if missed:
        more = f"; and {len(missed) - SHOWN} more" if len(missed) > SHOWN else ""
        print(f"could not audit {len(missed)}: {'; '.join(missed[:SHOWN])}{more}", file=sys.stderr)
        print("  remedy: run it where the advisories of PyPI and of npm can be reached", file=sys.stderr)
    if not (found or missed):
        print("no known vulnerabilities")
    return 1 if found else 2 if missed else 0


def _python(root: Path, pip_audit: str) -> Iterator[tuple[bool, str]]:
    """What pip-audit says, each with whether it is only that nobody knows."""
    pins = defaultdict[tuple[str, str], list[str]](list)
    for lock in sorted(file for pattern in LOCKS for file in root.glob(pattern)):
        for pin in PIN.findall(lock.read_text()):
            pins[pin].append(lock.relative_to(root).as_posix())
    for round_ in _rounds(list(pins)):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as wanted:
            wanted.write("".join(f"{name}=={version}\n" for name, version in round_))
            wanted.flush()
            options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
            said = _json([pip_audit, *options, "--requirement", wanted.name], root)
        if "dependencies" not in said:
            yield True, f"{len(round_)} Python packages ({said['problem']})"
            continue
        for each in said["dependencies"]:
            if "skip_reason" in each:
                yield True, each["skip_reason"]
            for known in each.get("vulns", []):
                fixed = f", fixed in {', '.join(known['fix_versions'])}" if known["fix_versions"] else ""
                where = ", ".join(pins[each["name"], each["version"]])
                yield False, f"{each['name']} {each['version']} ({where}): {known['id']}{fixed}"


def _rounds(pins: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """The pins in lists of one version of each package: locks of several Pythons may have two."""
    rounds: list[dict[str, str]] = []
    for name, version in pins:
        free = next((each for each in rounds if name not in each), None)
        if free is None:
            rounds.append(free := {})
        free[name] = version
    return [list(each.items()) for each in rounds]


def _node(root: Path, npm: str) -> Iterator[tuple[bool, str]]:
    said = _json([npm, "audit", "--package-lock-only", "--json"], root)
    if "vulnerabilities" not in said:
        yield True, f"package-lock.json ({said.get('message') or said['problem']})"
        return
    for name, known in said["vulnerabilities"].items():
        yield False, f"{name} (package-lock.json): {known['severity']}, versions {known['range']}"


def _json(command: Sequence[str], root: Path) -> dict[str, Any]:
    """What a program prints as JSON; `problem` where that is none."""
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = None
    last = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
    return said if isinstance(said, dict) else {"problem": last}


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), *(sys.argv[1:3] or PROGRAMS)))
