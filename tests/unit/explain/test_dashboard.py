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


def dashboard_decisions(folder: FleetFolder, keys: str = "") -> dict[str, Decision]:
    folder.spec(keys)
    project = open_project(folder.root, "dev", ["sentences"])
    made_decisions = decisions(
        EndpointContext(loaded_spec=project.load("sentences"), environment=project.environment, lock=None),
        project.deployment,
        project.fleet.prices,
    )
    return {
        made_decision.what: made_decision
        for made_decision in made_decisions
        if made_decision.group == "dashboard"
    }


def test_a_dashboard_is_shown_with_its_price(folder: FleetFolder) -> None:
    dashboard = dashboard_decisions(folder)["dashboard"]
    assert dashboard.value == "one of its own"
    assert f"in an account {dashboard_price():.2f} USD a month" in dashboard.reason
    assert [fact.file for fact in dashboard.facts] == ["other_prices.yaml"]


def test_one_that_is_switched_off_is_told_and_nothing_of_what_were_on_it(folder: FleetFolder) -> None:
    folder.environment("dashboards: false\n")
    decisions = dashboard_decisions(folder)
    assert [(decision.value, decision.reason) for decision in decisions.values()] == [
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
    decisions = dashboard_decisions(folder, keys)
    assert (decisions[DIMENSIONS].value if DIMENSIONS in decisions else None) == value
