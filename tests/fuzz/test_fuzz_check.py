"""The fuzz target, by what it is to find and for a few inputs."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.fuzz import fuzz_check
from tests.fuzz.fuzz_check import SEPARATOR, USUAL, mutations, one_input, seeds
from triton_fleet.findings import Finding
from triton_fleet.project.project import Project


@pytest.mark.parametrize("inputs", [50, pytest.param(200, marks=pytest.mark.nightly)])
def test_nothing_breaks_on_changed_files(inputs: int) -> None:
    samples = list(islice(mutations(seeds(), random.Random(5)), inputs))
    for data in samples:
        one_input(data)
    assert len(set(samples)) > inputs / 2


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, second = (list(islice(mutations(seeds(), random.Random(7)), 50)) for _ in range(2))
    assert first == second


@pytest.mark.nightly
def test_every_seed_is_checked() -> None:
    for data in seeds():
        one_input(data)
    assert len(seeds()) > 100


@pytest.mark.parametrize(
    "finding", [Finding(code="FL101", message="x"), Finding(code="FL101", message=" ", file=None, line=1)]
)
def test_a_finding_without_a_place_is_told(monkeypatch: pytest.MonkeyPatch, finding: Finding) -> None:
    monkeypatch.setattr(fuzz_check, "all_findings", lambda *_: [finding])
    with pytest.raises(AssertionError, match="without a place"):
        one_input(SEPARATOR.join(USUAL))


def test_findings_that_change_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(1, 10))

    def another(project: Project, drafts: object) -> list[Finding]:
        return [Finding(code="FL101", message="x", file=project.root, line=next(numbers))]

    monkeypatch.setattr(fuzz_check, "all_findings", another)
    with pytest.raises(AssertionError, match="different things"):
        one_input(SEPARATOR.join(USUAL))
