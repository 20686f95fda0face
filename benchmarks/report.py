"""Report: one changed spec of 1,000 against one synth of one spec, and ten changed ones in seconds.

`make bench NAME=report`. A synth is what `fleet report` runs for each side: the app in a process of its own,
without the CDK CLI and its validation. A report of one changed spec needs two of them, besides reading both
commits; both take turns, in processes of their own, on the same fleet. Exits with 1 where the median report
takes more than BAR times the median synth, where ten changed specs take MAX_SECONDS or more, or where a
report and its children together take MAX_BYTES or more.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from short import is_short
from synth_fleets import SINGLE

SPECS, CHANGED, TURNS = (20, 2, 1) if is_short() else (1_000, 10, 3)
BAR, MAX_SECONDS, MAX_BYTES = 3.0, 60.0, 1 << 30
SAMPLE_SECONDS = 0.05
LOCK = """\
endpoint: NAME
archives:
  NAME: {digest: "sha256:DIGEST", size: 1000, models: [encoder]}
"""
ENVIRONMENT = "environment: dev\naccount: '123456789012'\nregion: us-east-1\n"
SYNTH = """
from pathlib import Path
from fleet.upgrade.installation import installation
from fleet.upgrade.synthesis import THIS, synthesise
assert len(synthesise(installation(THIS), Path.cwd(), "dev", {"endpoints": "endpoint-0000"})) == 2
"""
REPORT = "from fleet.cli.main import run; run()"


def main() -> int:
    """Make the fleet, measure in turns, print, and compare with the bars."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "fleet"
        _make_fleet(root)
        _change(root, 1)
        turns = [(_seconds(root, "-c", SYNTH)[0], _report(root, 1)) for _ in range(TURNS)]
        _change(root, CHANGED)
        many, many_bytes = _report(root, CHANGED)
    synth = statistics.median(one for one, _ in turns)
    report = statistics.median(seconds for _, (seconds, _) in turns)
    memory = max(many_bytes, *(taken for _, (_, taken) in turns))
    print(f"one synth of one spec of {SPECS}: {synth:.1f} s")
    print(f"report of one changed spec:  {report:.1f} s, {report / synth:.2f} times as long")
    print(f"report of {CHANGED} changed specs: {many:.1f} s; at most {memory / 2**20:.0f} MiB of memory")
    found = {"times_synth": report / synth, "seconds_of_many": many, "memory_mib": memory / 2**20}
    print(json.dumps({key: round(value, 2) for key, value in found.items()}))
    fails = report > BAR * synth or many >= MAX_SECONDS or memory >= MAX_BYTES
    return int(not is_short() and fails)


def _make_fleet(root: Path) -> None:
    """Specs with their locks, committed on `main`, and a branch."""
    for folder in ("model_specs", "environments", "locks/dev"):
        (root / folder).mkdir(parents=True)
    (root / "environments/dev.yaml").write_text(ENVIRONMENT)
    for number in range(SPECS):
        name = f"endpoint-{number:04}"
        (root / f"model_specs/{name}.yaml").write_text(SINGLE.replace("NAME", name))
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
