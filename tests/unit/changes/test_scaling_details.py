"""The details about what the guard does with the scaling of an endpoint during an update."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.fleet_changes import change
from tests.support.fleet_folder import FleetFolder
from triton_fleet.changes.endpoint_change import Revision, endpoint_change
from triton_fleet.changes.templates import Change, Effect
from triton_fleet.changes.wording import detail_lists
from triton_fleet.project.project import open_project
from triton_fleet.spec.prices import PriceBook

SUSPENDED_NOTES = ["suspended during the update, resumed after it"]
DEREGISTERED_NOTES = ["deregistered for the update, and restored after it"]


@pytest.mark.parametrize(
    ("properties", "is_scaled", "words"),
    [
        (("EndpointConfigName",), True, SUSPENDED_NOTES),
        (("EndpointConfigName", "InstanceType"), True, DEREGISTERED_NOTES),
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


@pytest.mark.parametrize(
    ("before", "after", "is_scaled"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_only_what_scales_before_and_after_is_restored(
    tmp_path: Path, before: bool, after: bool, is_scaled: bool
) -> None:
    def revision(root: Path, scales: bool) -> Revision:
        folder = FleetFolder(root)
        folder.environment()
        folder.spec("scaling: {min: 1, max: 4, invocations_per_instance: 60}\n" if scales else "")
        project = open_project(root, "dev")
        return Revision(root=root, environment=project.environment, loaded_spec=project.load("sentences"))

    sides = revision(tmp_path / "before", before), revision(tmp_path / "after", after)
    assert endpoint_change("sentences", *sides, PriceBook()).is_scaled is is_scaled
