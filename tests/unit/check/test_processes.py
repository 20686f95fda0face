"""Many endpoints are checked on all cores, with the findings of one core."""

from __future__ import annotations

import os

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check import processes
from triton_fleet.check.processes import all_in_processes
from triton_fleet.findings import Finding, FindingsError


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    monkeypatch.setattr(processes, "MIN_ITEMS_FOR_PROCESSES", 3)


@pytest.mark.usefixtures("two_cores")
def test_results_are_in_the_order_of_the_items() -> None:
    assert all_in_processes(range(50), lambda number: number * 2, os.getpid) == (
        [number * 2 for number in range(50)],
        os.getpid(),
    )


@pytest.mark.usefixtures("two_cores")
def test_many_items_are_done_in_other_processes_after_the_first() -> None:
    first, *later_pids = all_in_processes(range(50), lambda _: os.getpid(), lambda: None)[0]
    assert first == os.getpid()
    assert os.getpid() not in later_pids


@pytest.mark.usefixtures("two_cores")
def test_few_items_are_done_here() -> None:
    assert all_in_processes([1, 2, 3], lambda _: os.getpid(), os.getpid) == ([os.getpid()] * 3, os.getpid())


@pytest.mark.usefixtures("two_cores")
def test_an_error_comes_back_as_it_is() -> None:
    def refuse(number: int) -> None:
        if number == 40:
            raise FindingsError([Finding(code="FL112", message="forty")])

    with pytest.raises(FindingsError, match="forty"):
        all_in_processes(range(50), refuse, lambda: None)


@pytest.mark.usefixtures("two_cores")
def test_the_findings_are_those_of_one_process(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("profiles/gpu.yaml", "environment: {SAGEMAKER_TRITON_THREAD_CUONT: '8'}\n")
    for number in range(6):
        folder.spec(
            "profile: gpu\n", f"e{number}", base=SPEC.replace("endpoint: sentences", f"endpoint: e{number}")
        )
    folder.spec("scaling: {min: 0, max: 2}\n")
    findings = folder.check()
    monkeypatch.setattr(processes, "MIN_ITEMS_FOR_PROCESSES", 1000)
    assert findings == folder.check()
    assert any(len(finding.endpoints) == 6 for finding in findings)
    assert any(finding.file == folder.root / "model_specs/sentences.yaml" for finding in findings)
