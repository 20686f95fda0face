"""`fleet show`: whether an endpoint has a dashboard, what that costs, and how it finds Triton's metrics."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.catalog.prices import dashboard_price
from triton_fleet.context.context import EndpointContext
from triton_fleet.explain.decision import Decision
from triton_fleet.explain.decisions import decisions
from triton_fleet.project.project import open_project

DIMENSIONS = "dimensions of Triton's metrics"


def shown(folder: FleetFolder, keys: str = "") -> dict[str, Decision]:
    folder.spec(keys)
    project = open_project(folder.root, "dev", ["sentences"])
    made = decisions(
        EndpointContext(loaded_spec=project.load("sentences"), environment=project.environment, lock=None),
        project.deployment,
        project.fleet.prices,
    )
    return {each.what: each for each in made if each.group == "dashboard"}


def test_a_dashboard_is_shown_with_its_price(folder: FleetFolder) -> None:
    found = shown(folder)["dashboard"]
    assert found.value == "one of its own"
    assert f"in an account {dashboard_price():.2f} USD a month" in found.reason
    assert [fact.file for fact in found.facts] == ["other_prices.yaml"]


def test_one_that_is_switched_off_is_told_and_nothing_of_what_were_on_it(folder: FleetFolder) -> None:
    folder.environment("dashboards: false\n")
    found = shown(folder)
    assert [(each.value, each.reason) for each in found.values()] == [
        ("none", "the environment's `dashboards` is off")
    ]


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("", "whatever they are"),
        ("metrics: {triton_dimensions: [model, reason]}\n", "model, reason"),
        ("metrics: {triton: false}\n", None),
    ],
)
def test_the_dimensions_of_tritons_metrics_are_shown(
    folder: FleetFolder, keys: str, value: str | None
) -> None:
    found = shown(folder, keys)
    assert (found[DIMENSIONS].value if DIMENSIONS in found else None) == value
