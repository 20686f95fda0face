"""Quotas that a change needs: instances at the most, and those beside them while endpoints are updated."""

from __future__ import annotations

import pytest

from tests.support.fleet_changes import change
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.environment_change import quota_changes
from triton_fleet.context.capacity import InstanceLimit
from triton_fleet.context.traffic import InstanceNeed

G5 = "ml.g5.xlarge"


def updated_change(name: str, beside: int, maximum: int = 4, machine: str = G5) -> EndpointChange:
    limit = InstanceLimit(types=(machine,), max_instances=maximum)
    need = InstanceNeed(type=machine, beside=beside, max_instances=maximum)
    return change(name, need=need, limits=(limit, limit))


@pytest.mark.parametrize(
    ("besides", "words"),
    [
        ([2], "4 → 4 at the most, and 2 beside them during an update"),
        (
            [2, 3],
            "8 → 8 at the most, and 5 beside them while 2 are updated at one time (3 if one after the other)",
        ),
        (
            [1, 2, 3, 4, 5, 6],
            "24 → 24 at the most, and 18 beside them while 4 are updated at one time (6 if one after the other)",
        ),
    ],
)
def test_the_line_counts_the_largest_second_fleets_that_run_side_by_side(
    besides: list[int], words: str
) -> None:
    first, *_ = quota_changes([updated_change(f"e{number}", beside) for number, beside in enumerate(besides)])
    assert str(first) == f"{G5} for endpoint usage: {words}"


def test_the_quota_of_all_types_counts_those_of_each() -> None:
    changes = quota_changes([updated_change("a", 2), updated_change("b", 1, machine="ml.g6.xlarge")])
    assert [change.beside_at_once for change in changes] == [2, 1, 3]


def test_an_update_that_starts_no_instances_is_not_one_of_those_side_by_side() -> None:
    first, *_ = quota_changes([updated_change("a", 2), updated_change("b", 0)])
    assert (first.at_once, first.beside_at_once) == (1, 2)
