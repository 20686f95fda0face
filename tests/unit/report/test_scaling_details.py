"""The details about what the guard does with the scaling of an endpoint during an update."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fleet.report.wording import detail_lists
from fleet.upgrade.comparison import Change, Effect
from fleet_changes import change

SUSPENDED = ["suspended during the update, resumed after it"]
DEREGISTERED = ["deregistered for the update, and restored after it"]


@pytest.mark.parametrize(
    ("properties", "is_scaled", "words"),
    [
        (("EndpointConfigName",), True, SUSPENDED),
        (("EndpointConfigName", "InstanceType"), True, DEREGISTERED),
        (("EndpointConfigName", "InstanceType"), False, None),
        (("EndpointConfigName",), False, None),
        (("Policies",), True, None),
    ],
)
def test_a_guarded_update_of_a_scaled_endpoint_says_what_happens_to_its_scaling(
    properties: tuple[str, ...], is_scaled: bool, words: Sequence[str] | None
) -> None:
    guards = tuple(
        Change(effect=Effect.UPDATED, type="Custom::ScalingGuard", logical_id=step, properties=properties)
        for step in ("UpdateBefore", "UpdateAfter")
    )
    assert dict(detail_lists(change(is_scaled=is_scaled, resources=guards))).get("scaling") == words
