"""Every benchmark in its short form: what it measures still works, and it prints what it promises."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
    file.stem
    for file in sorted((ROOT / "benchmarks").glob("*.py"))
    if f"`make bench NAME={file.stem}`" in file.read_text()
]


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="two minutes: FLEET_SLOW=1 runs it")
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_does_its_work_and_ends_with_its_ratios(name: str) -> None:
    if name == "pack" and shutil.which("pigz") is None:
        pytest.skip("pigz is not installed")
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--short"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if name in ("endpoint_constructs", "router") and process.returncode == 2:
        pytest.skip(process.stderr.strip())
    assert process.returncode == 0, f"{process.stdout}\n{process.stderr}"
    ratios = json.loads(process.stdout.splitlines()[-1])
    assert ratios
    assert all(isinstance(value, float | int) for value in ratios.values())


def test_all_that_can_be_started_is_a_benchmark_or_a_part_of_one() -> None:
    stems = {file.stem for file in (ROOT / "benchmarks").glob("*.py") if '"__main__"' in file.read_text()}
    assert stems - set(NAMES) == {"deploy_account", "endpoint_constructs_side", "synth_side"}
