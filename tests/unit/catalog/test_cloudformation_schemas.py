"""The facts of CloudFormation's resource types in the catalog and `fleet drift`, as their schemas have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import distribution
from typing import Any

import pytest

from tests.support.fleet_folder import ROOT
from triton_fleet.aws.drift import hosting, monitoring, scaling
from triton_fleet.aws.running_configuration import CONFIGURATION
from triton_fleet.catalog.limits import limit
from triton_fleet.context import rollout

SCHEMAS = "cfnlint/data/schemas"
COMPARED_TYPES = (
    hosting.ENDPOINT,
    CONFIGURATION,
    "AWS::SageMaker::Model",
    scaling.TARGET,
    scaling.POLICY,
    monitoring.ALARM,
    monitoring.DASHBOARD,
    monitoring.ROLE,
)


def _read(file: str) -> Any:
    return json.loads(distribution("cfn-lint").locate_file(f"{SCHEMAS}/{file}").read_text())


@pytest.fixture(scope="module")
def handlers() -> Callable[[str], dict[str, Any]]:
    """The handlers of a resource type."""
    places = _read("providers/us-east-1.json")
    return lambda type: dict(_read(f"resources/{places[type]}.json").get("handlers", {}))


def test_cloudformation_can_read_the_types_that_drift_compares_itself_except_inline_policies(
    handlers: Callable[[str], dict[str, Any]],
) -> None:
    assert [type for type in COMPARED_TYPES if "read" not in handlers(type)] == []
    assert "read" not in handlers(monitoring.POLICY)


@pytest.fixture(scope="module")
def minutes(handlers: Callable[[str], dict[str, Any]]) -> dict[str, int]:
    """How long CloudFormation waits for an endpoint, by operation."""
    return {
        name: entry["timeoutInMinutes"]
        for name, entry in handlers(hosting.ENDPOINT).items()
        if "timeoutInMinutes" in entry
    }


def test_the_page_about_updates_has_the_time_outs_of_an_endpoint(minutes: dict[str, int]) -> None:
    text = " ".join((ROOT / "docs/updates.md").read_text().split())
    times = f"CloudFormation waits {minutes['create']} minutes for a new endpoint and {minutes['update']} minutes for an"
    assert times in text


def test_the_longest_start_and_the_longest_rollout_end_before_cloudformation_gives_up(
    minutes: dict[str, int],
) -> None:
    start = rollout.PROVISIONING_SECONDS + limit("download_seconds_max") + limit("startup_seconds_max")
    assert start < minutes["create"] * 60
    assert limit("rollout_seconds_max") < minutes["update"] * 60
