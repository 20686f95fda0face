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
MAX_GAPS = 5
PROGRAMS = (".venv-audit/bin/pip-audit", "npm")
"""What is asked where the command line names no others."""


def main(root: Path, pip_audit: str, npm: str) -> int:
    """Audit the locks below a folder with these two programs; what the process ends with."""
    vulnerabilities, gaps = list[str](), list[str]()
    for results in (_python(root, pip_audit), _node(root, npm)):
        for is_missed, line in results:
            (gaps if is_missed else vulnerabilities).append(line)
    for line in vulnerabilities:
        print(line)
    if gaps:
        more = f"; and {len(gaps) - MAX_GAPS} more" if len(gaps) > MAX_GAPS else ""
        print(f"could not audit {len(gaps)}: {'; '.join(gaps[:MAX_GAPS])}{more}", file=sys.stderr)
        print("  remedy: run it where the advisories of PyPI and of npm can be reached", file=sys.stderr)
    if not (vulnerabilities or gaps):
        print("no known vulnerabilities")
    return 1 if vulnerabilities else 2 if gaps else 0


def _python(root: Path, pip_audit: str) -> Iterator[tuple[bool, str]]:
    """The lines of pip-audit's report, and whether each is only a package without advisories."""
    pins = defaultdict[tuple[str, str], list[str]](list)
    for lock in sorted(file for pattern in LOCKS for file in root.glob(pattern)):
        for pin in PIN.findall(lock.read_text()):
            pins[pin].append(lock.relative_to(root).as_posix())
    for round_ in _rounds(list(pins)):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
            requirements.write("".join(f"{name}=={version}\n" for name, version in round_))
            requirements.flush()
            options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
            report = _json([pip_audit, *options, "--requirement", requirements.name], root)
        if "dependencies" not in report:
            yield True, f"{len(round_)} Python packages ({report['problem']})"
            continue
        for package in report["dependencies"]:
            if "skip_reason" in package:
                yield True, package["skip_reason"]
            for vulnerability in package.get("vulns", []):
                fix_note = (
                    f", fixed in {', '.join(vulnerability['fix_versions'])}"
                    if vulnerability["fix_versions"]
                    else ""
                )
                locks = ", ".join(pins[package["name"], package["version"]])
                yield (
                    False,
                    f"{package['name']} {package['version']} ({locks}): {vulnerability['id']}{fix_note}",
                )


def _rounds(pins: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """The pins in lists of one version of each package: locks of several Pythons may have two."""
    rounds: list[dict[str, str]] = []
    for name, version in pins:
        free = next((round_ for round_ in rounds if name not in round_), None)
        if free is None:
            rounds.append(free := {})
        free[name] = version
    return [list(round_.items()) for round_ in rounds]


def _node(root: Path, npm: str) -> Iterator[tuple[bool, str]]:
    report = _json([npm, "audit", "--package-lock-only", "--json"], root)
    if "vulnerabilities" not in report:
        yield True, f"package-lock.json ({report.get('message') or report['problem']})"
        return
    for name, vulnerability in report["vulnerabilities"].items():
        yield (
            False,
            f"{name} (package-lock.json): {vulnerability['severity']}, versions {vulnerability['range']}",
        )


def _json(command: Sequence[str], root: Path) -> dict[str, Any]:
    """The JSON that a program prints; its `problem` where it prints none."""
    process = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        report = json.loads(process.stdout)
    except ValueError:
        report = None
    last = (process.stderr.strip().splitlines() or [f"it ended with {process.returncode}"])[-1]
    return report if isinstance(report, dict) else {"problem": last}


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), *(sys.argv[1:3] or PROGRAMS)))
