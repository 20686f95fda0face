"""The scaling guard in a rollback: nothing scales before CloudFormation has moved the endpoint back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scaling_guard.scaling import SUSPENSION_STATE as DYNAMIC
from tests.support.guarded_endpoint import (
    OLD,
    OTHER_CONFIG,
    SUSPENDED_STATE,
    Clients,
    GuardedEndpoint,
    StackIds,
)

pytestmark = pytest.mark.nightly
ASIDE = {**SUSPENDED_STATE, **DYNAMIC}


@pytest.fixture
def updated_endpoint(scaled_endpoint: GuardedEndpoint, stack_ids: StackIds) -> GuardedEndpoint:
    """An endpoint whose stack's first step has run for another configuration, and which rolls back."""
    scaled_endpoint.guard("before", OTHER_CONFIG)
    scaled_endpoint.stack_id = stack_ids.rolling_back
    return scaled_endpoint


def earlier(event: Mapping[str, Any]) -> dict[str, Any]:
    """The same event where the stack goes back to a template that names neither configuration nor policies."""
    properties = {
        key: value
        for key, value in event["ResourceProperties"].items()
        if key not in ("EndpointConfigName", "Policies")
    }
    return {**event, "ResourceProperties": properties}


def busy(endpoint: GuardedEndpoint) -> Clients:
    """Clients that see the endpoint Updating until the guard has waited once."""
    states = ["Updating"]
    endpoint.meanwhile = states.clear

    def after(name: str, parsed: dict[str, Any]) -> None:
        if name == "DescribeEndpoint" and states:
            parsed["EndpointStatus"] = states[0]

    return endpoint.account.clients(after=after)


@pytest.mark.parametrize("is_earlier", [False, True])
def test_the_first_step_waits_and_leaves_the_scaling_suspended_until_the_clean_up(
    updated_endpoint: GuardedEndpoint, capsys: pytest.CaptureFixture[str], is_earlier: bool
) -> None:
    back = updated_endpoint.event("before", OLD, former=OTHER_CONFIG)
    updated_endpoint.answer(earlier(back) if is_earlier else back, busy(updated_endpoint))
    assert f"Waiting: endpoint {updated_endpoint.name} is Updating" in capsys.readouterr().out
    assert (updated_endpoint.suspension_by_kind(), updated_endpoint.is_saved()) == (ASIDE, True)
    updated_endpoint.guard("before", OTHER_CONFIG, RequestType="Delete")
    assert (updated_endpoint.suspension_by_kind(), updated_endpoint.is_saved()) == (SUSPENDED_STATE, False)


def test_the_second_step_resumes_when_the_endpoint_is_back(updated_endpoint: GuardedEndpoint) -> None:
    updated_endpoint.guard("before", OLD, former=OTHER_CONFIG)
    updated_endpoint.guard("after", OLD, former=OTHER_CONFIG)
    assert (updated_endpoint.suspension_by_kind(), updated_endpoint.is_saved()) == (SUSPENDED_STATE, False)


@pytest.mark.parametrize("step", ["before", "after"])
def test_scaling_is_suspended_again_on_the_way_back_to_an_earlier_release(
    updated_endpoint: GuardedEndpoint, stack_ids: StackIds, step: str
) -> None:
    """Both configurations have the same type, and the second step had resumed the scaling."""
    updated_endpoint.stack_id = stack_ids.calm
    updated_endpoint.move(OTHER_CONFIG)
    updated_endpoint.guard("after", OTHER_CONFIG)
    assert updated_endpoint.suspension_by_kind() == SUSPENDED_STATE
    updated_endpoint.stack_id = stack_ids.rolling_back
    updated_endpoint.answer(
        earlier(updated_endpoint.event(step, OLD, former=OTHER_CONFIG)), busy(updated_endpoint)
    )
    assert updated_endpoint.suspension_by_kind() == ASIDE
    updated_endpoint.move(OLD)
    updated_endpoint.guard(step, OTHER_CONFIG, RequestType="Delete")
    assert (updated_endpoint.suspension_by_kind(), updated_endpoint.is_saved()) == (SUSPENDED_STATE, False)


def test_policies_change_places_in_the_first_step_where_it_is_the_last_one(
    updated_endpoint: GuardedEndpoint, stack_ids: StackIds
) -> None:
    updated_endpoint.own = {OLD: ["Load"], OTHER_CONFIG: ["Load-new"]}
    updated_endpoint.stack_id = stack_ids.calm
    updated_endpoint.move(OTHER_CONFIG)
    updated_endpoint.guard("after", OTHER_CONFIG, former=OLD)
    updated_endpoint.put_policy("Load-new", 5)
    updated_endpoint.stack_id = stack_ids.rolling_back
    updated_endpoint.guard("after", OLD, former=OTHER_CONFIG)
    updated_endpoint.move(OLD)
    updated_endpoint.guard("before", OLD, former=OTHER_CONFIG)
    updated_endpoint.guard("before", OTHER_CONFIG, RequestType="Delete")
    assert sorted(updated_endpoint.arns()) == ["Gpu", "Load"]
    assert (updated_endpoint.suspension_by_kind(), updated_endpoint.is_saved()) == (SUSPENDED_STATE, False)


def test_a_first_step_without_a_clean_up_resumes(updated_endpoint: GuardedEndpoint) -> None:
    """CloudFormation has given up the step itself, so the endpoint stays as it is."""
    back = dict(updated_endpoint.event("before", OLD, former=OTHER_CONFIG))
    back["PhysicalResourceId"] = updated_endpoint.answer(back)["PhysicalResourceId"]
    updated_endpoint.answer(back)
    assert (updated_endpoint.suspension_by_kind(), updated_endpoint.is_saved()) == (SUSPENDED_STATE, False)
