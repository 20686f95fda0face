"""Mutated configurations: no traceback, no hang, the same verdict twice."""

from __future__ import annotations

import os
import random
from itertools import islice

import pytest

from tests.fuzz.fuzz_check import mutations
from tests.fuzz.fuzz_repository import one_input, seeds

FEW, MANY = 300, 10_000


def test_nothing_breaks_on_changed_configurations() -> None:
    _try(FEW, 3)


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="10,000 files: FLEET_SLOW=1 runs it")
def test_nothing_breaks_on_ten_thousand_changed_configurations() -> None:
    _try(MANY, 4)


def test_every_seed_is_judged() -> None:
    for data in seeds():
        one_input(data)
    assert len(seeds()) > 60


def _try(count: int, seed: int) -> None:
    inputs = list(islice(mutations(seeds(), random.Random(seed)), count))
    for data in inputs:
        one_input(data)
    assert len(set(inputs)) > count / 2
