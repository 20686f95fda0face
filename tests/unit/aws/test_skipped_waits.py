"""The waits of a rollout that the embedded AWS skips are those that AWS would have."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.aws.deploy.endpoint_wait import rollout_waits

FOUR = SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 4}")


@pytest.mark.parametrize(
    ("keys", "waits"),
    [
        ("strategy: all-at-once, bake: 10m", "on AWS it would bake 10 min"),
        ("strategy: canary, canary: 25%, bake: 10m", "on AWS it would bake 2 × 10 min"),
        ("strategy: linear, step: 25%, bake: 90s", "on AWS it would bake 4 × 1 min 30 s"),
        ("strategy: rolling, step: 5%, bake: 5m", "on AWS it would bake 4 × 5 min"),
        (
            "strategy: canary, canary: 25%, bake: 10m, termination_wait: 5m",
            "on AWS it would bake 2 × 10 min and keep the old fleet for 5 min",
        ),
        ("strategy: all-at-once, bake: 0s", ""),
    ],
)
def test_each_step_bakes_and_the_old_fleet_is_kept(folder: FleetFolder, keys: str, waits: str) -> None:
    folder.spec(f"rollout: {{{keys}, rollback_on: []}}\n", base=FOUR)
    assert rollout_waits(folder.resolve()) == waits


def test_without_a_rollout_nothing_waits(folder: FleetFolder) -> None:
    folder.spec()
    assert rollout_waits(folder.resolve()) == ""
