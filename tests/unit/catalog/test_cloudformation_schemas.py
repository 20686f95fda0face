"""What the catalog and `fleet drift` say of CloudFormation's resource types, as their schemas have it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import distribution
from typing import Any

import pytest

from fleet.aws.drift import hosting, monitoring, roles, scaling
from fleet.aws.running_configuration import CONFIGURATION
from fleet.catalog.limits import limit
from fleet.endpoint.context import rollout

SCHEMAS = "cfnlint/data/schemas"
COMPARED = (
    hosting.ENDPOINT,
    CONFIGURATION,
    "AWS::SageMaker::Model",
    scaling.TARGET,
    scaling.POLICY,
    monitoring.ALARM,
    monitoring.DASHBOARD,
    roles.ROLE,
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
    assert [type for type in COMPARED if "read" not in handlers(type)] == []
    assert "read" not in handlers(roles.POLICY)


def test_the_time_outs_of_an_endpoint_are_those_of_its_schema(
    handlers: Callable[[str], dict[str, Any]],
) -> None:
    found = handlers(hosting.ENDPOINT)
    assert limit("endpoint_create_minutes") == found["create"]["timeoutInMinutes"]
    assert limit("endpoint_update_minutes") == found["update"]["timeoutInMinutes"]


def test_the_longest_start_and_the_longest_rollout_end_before_cloudformation_gives_up() -> None:
    start = rollout.PROVISIONING_SECONDS + limit("download_seconds_max") + limit("startup_seconds_max")
    assert start < limit("endpoint_create_minutes") * 60
    assert limit("rollout_seconds_max") < limit("endpoint_update_minutes") * 60
