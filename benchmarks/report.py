"""Report: one changed spec of 1,000 against one synth of one spec, ten changed ones, and 200 of 200.

`make bench NAME=report`. A synth is what `fleet report` runs for each side: the app in a process of its own,
without the CDK CLI and its validation. A report of one changed spec needs two of them, besides reading both
commits; both take turns, in processes of their own, on the same fleet. A profile then changes all endpoints
of a fleet of thirty owners alike. Exits with 1 where the median report takes more than BAR times the median
synth, where ten changed specs take MAX_SECONDS or more, where those of the profile take more than
MAX_PROFILE_SECONDS or their comment more than MAX_COMMENT_BYTES, or where a report of specs and its children
together take MAX_BYTES or more.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
from short import is_short
from synth_fleets import SINGLE

SPECS, CHANGED, TURNS = (20, 2, 1) if is_short() else (1_000, 10, 3)
BAR, MAX_SECONDS, MAX_BYTES = 3.0, 60.0, 1 << 30
OF_PROFILE, OWNERS = (20, 3) if is_short() else (200, 30)
MAX_PROFILE_SECONDS, MAX_COMMENT_BYTES = 30.0, 8_000
SAMPLE_SECONDS = 0.05
PROFILE = """\
triton: "25.04"
rollout: {strategy: canary, canary: 50%, bake: 10m, rollback_on: [errors, latency]}
"""
OF_PROFILES = "profile: base\nowner: {team: team-OWNER, contact: a@example.com}\n"
OF_TEAM = OF_PROFILES + "".join(line for line in SINGLE.splitlines(keepends=True) if line not in PROFILE)
LOCK = """\
endpoint: NAME
archives:
  NAME: {digest: "sha256:DIGEST", size: 1000, models: [encoder]}
"""
ENVIRONMENT = "environment: dev\naccount: '123456789012'\nregion: us-east-1\n"
SYNTH = """
from pathlib import Path
from triton_fleet.product.synthesis import installation
from triton_fleet.product.synthesis import OWN_PYTHON, synthesise
assert len(synthesise(installation(OWN_PYTHON), Path.cwd(), "dev", {"endpoints": "endpoint-0000"})) == 2
"""
REPORT = "from triton_fleet.cli.main import run; run()"


def main() -> int:
    """Make the fleet, measure in turns, print, and compare with the bars."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "fleet"
        _make_fleet(root, SINGLE, SPECS)
        _change(root, 1)
        turns = [(_seconds(root, "-c", SYNTH)[0], _report(root, 1)) for _ in range(TURNS)]
        _change(root, CHANGED)
        many, many_bytes = _report(root, CHANGED)
        whole, comment = _report_of_profile(Path(name) / "teams")
    synth = statistics.median(one for one, _ in turns)
    report = statistics.median(seconds for _, (seconds, _) in turns)
    memory = max(many_bytes, *(taken for _, (_, taken) in turns))
    print(f"one synth of one spec of {SPECS}: {synth:.1f} s")
    print(f"report of one changed spec:  {report:.1f} s, {report / synth:.2f} times as long")
    print(f"report of {CHANGED} changed specs: {many:.1f} s; at most {memory / 2**20:.0f} MiB of memory")
    print(f"{'changed alike by a profile':<29}{'seconds':>9}{'bar':>7}{'bytes of the comment':>23}{'bar':>7}")
    print(
        f"{f'{OF_PROFILE} of {OF_PROFILE} specs':<29}{whole:>9.1f}{MAX_PROFILE_SECONDS:>7.0f}"
        f"{comment:>23,}{MAX_COMMENT_BYTES:>7,}"
    )
    found = {
        "times_synth": report / synth,
        "seconds_of_many": many,
        "memory_mib": memory / 2**20,
        f"seconds_of_{OF_PROFILE}_alike": whole,
        f"comment_bytes_of_{OF_PROFILE}_alike": comment,
    }
    print(json.dumps({key: round(value, 2) for key, value in found.items()}))
    fails = report > BAR * synth or many >= MAX_SECONDS or memory >= MAX_BYTES
    fails |= whole > MAX_PROFILE_SECONDS or comment > MAX_COMMENT_BYTES
    return int(not is_short() and fails)


def _report_of_profile(root: Path) -> tuple[float, int]:
    """Seconds and bytes of the comment about a fleet of which one line of a profile changes all endpoints.

    Raises:
        AssertionError: they are not one row.
    """
    _make_fleet(root, OF_TEAM, OF_PROFILE, {"profiles/base.yaml": PROFILE})
    (root / "profiles/base.yaml").write_text(PROFILE.replace("bake: 10m", "bake: 20m"))
    seconds, _, text = _seconds(root, "-c", REPORT, "report", "--base", "main")
    if f"{OF_PROFILE} endpoints of {OWNERS} owners</summary>" not in text:
        raise AssertionError(f"not one row: {text[:1000]}")
    return seconds, len(text.encode())


def _make_fleet(root: Path, spec: str, count: int, shared: Mapping[str, str] | None = None) -> None:
    """Specs with their locks, committed on `main`, and a branch."""
    for path, text in (shared or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for folder in ("model_specs", "environments", "locks/dev"):
        (root / folder).mkdir(parents=True)
    (root / "environments/dev.yaml").write_text(ENVIRONMENT)
    for number in range(count):
        name, owner = f"endpoint-{number:04}", f"{number % OWNERS:02}"
        (root / f"model_specs/{name}.yaml").write_text(spec.replace("NAME", name).replace("OWNER", owner))
        lock = LOCK.replace("NAME", name).replace("DIGEST", f"{number:064}")
        (root / f"locks/dev/{name}.lock.yaml").write_text(lock)
    author = (
        "-c",
        "user.name=benchmark",
        "-c",
        "user.email=benchmark@example.com",
        "-c",
        "commit.gpgsign=false",
    )
    for command in (
        ["init", "-b", "main"],
        ["add", "."],
        ["commit", "-m", "fleet"],
        ["checkout", "-b", "work"],
    ):
        subprocess.run(["git", *author, *command], cwd=root, check=True, capture_output=True)


def _change(root: Path, count: int) -> None:
    for number in range(count):
        spec = root / f"model_specs/endpoint-{number:04}.yaml"
        spec.write_text(spec.read_text().replace("ml.g5.xlarge", "ml.g6.xlarge"))


def _report(root: Path, changed: int) -> tuple[float, int]:
    """Seconds and bytes of a report.

    Raises:
        AssertionError: it does not have the endpoints that changed.
    """
    seconds, taken, text = _seconds(root, "-c", REPORT, "report", "--base", "main", "--format", "json")
    found = len(json.loads(text)["environments"][0]["endpoints"])
    if found != changed:
        raise AssertionError(f"{found} endpoints, not {changed}")
    return seconds, taken


def _seconds(root: Path, *arguments: str) -> tuple[float, int, str]:
    """Wall time, the most memory of the process with its children, and the output of one Python.

    Raises:
        RuntimeError: it failed; its output is on standard error.
    """
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], cwd=root, stdout=output, env=os.environ)
        most = 0
        while process.poll() is None:
            most = max(most, _memory(process.pid))
            time.sleep(SAMPLE_SECONDS)
        seconds = time.perf_counter() - begin
        if process.returncode:
            raise RuntimeError(f"{arguments} ended with {process.returncode}")
        output.seek(0)
        return seconds, most, output.read()


def _memory(pid: int) -> int:
    """Bytes that a process and its children have to themselves."""
    try:
        parent = psutil.Process(pid)
        return sum(each.memory_full_info().uss for each in (parent, *parent.children(recursive=True)))
    except psutil.Error:
        return 0


if __name__ == "__main__":
    sys.exit(main())
