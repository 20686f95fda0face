"""The scaling guard in a rollback: nothing scales before CloudFormation has moved the endpoint back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scaling_guard.scaling import SUSPENSION_STATE as DYNAMIC
from tests.support.guarded_endpoint import OLD, OTHER, SUSPENDED, Clients, Guarded, StackIds

pytestmark = pytest.mark.nightly
ASIDE = {**SUSPENDED, **DYNAMIC}


@pytest.fixture
def updated(scaled: Guarded, stack_ids: StackIds) -> Guarded:
    """An endpoint whose stack's first step has run for another configuration, and which rolls back."""
    scaled.guard("before", OTHER)
    scaled.stack_id = stack_ids.rolling_back
    return scaled


def earlier(event: Mapping[str, Any]) -> dict[str, Any]:
    """The same event where the stack goes back to a template that names neither configuration nor policies."""
    properties = {
        key: value
        for key, value in event["ResourceProperties"].items()
        if key not in ("EndpointConfigName", "Policies")
    }
    return {**event, "ResourceProperties": properties}


def busy(endpoint: Guarded) -> Clients:
    """Clients that see the endpoint Updating until the guard has waited once."""
    states = ["Updating"]
    endpoint.meanwhile = states.clear

    def after(name: str, parsed_values: dict[str, Any]) -> None:
        if name == "DescribeEndpoint" and states:
            parsed_values["EndpointStatus"] = states[0]

    return endpoint.account.clients(after=after)


@pytest.mark.parametrize("is_earlier", [False, True])
def test_the_first_step_waits_and_leaves_the_scaling_suspended_until_the_clean_up(
    updated: Guarded, capsys: pytest.CaptureFixture[str], is_earlier: bool
) -> None:
    back = updated.event("before", OLD, former=OTHER)
    updated.answer(earlier(back) if is_earlier else back, busy(updated))
    assert f"Waiting: endpoint {updated.name} is Updating" in capsys.readouterr().out
    assert (updated.suspended(), updated.is_saved()) == (ASIDE, True)
    updated.guard("before", OTHER, RequestType="Delete")
    assert (updated.suspended(), updated.is_saved()) == (SUSPENDED, False)


def test_the_second_step_resumes_when_the_endpoint_is_back(updated: Guarded) -> None:
    updated.guard("before", OLD, former=OTHER)
    updated.guard("after", OLD, former=OTHER)
    assert (updated.suspended(), updated.is_saved()) == (SUSPENDED, False)


@pytest.mark.parametrize("step", ["before", "after"])
def test_scaling_is_suspended_again_on_the_way_back_to_an_earlier_release(
    updated: Guarded, stack_ids: StackIds, step: str
) -> None:
    """Both configurations have the same type, and the second step had resumed the scaling."""
    updated.stack_id = stack_ids.calm
    updated.move(OTHER)
    updated.guard("after", OTHER)
    assert updated.suspended() == SUSPENDED
    updated.stack_id = stack_ids.rolling_back
    updated.answer(earlier(updated.event(step, OLD, former=OTHER)), busy(updated))
    assert updated.suspended() == ASIDE
    updated.move(OLD)
    updated.guard(step, OTHER, RequestType="Delete")
    assert (updated.suspended(), updated.is_saved()) == (SUSPENDED, False)


def test_policies_change_places_in_the_first_step_where_it_is_the_last_one(
    updated: Guarded, stack_ids: StackIds
) -> None:
    updated.own = {OLD: ["Load"], OTHER: ["Load-new"]}
    updated.stack_id = stack_ids.calm
    updated.move(OTHER)
    updated.guard("after", OTHER, former=OLD)
    updated.put_policy("Load-new", 5)
    updated.stack_id = stack_ids.rolling_back
    updated.guard("after", OLD, former=OTHER)
    updated.move(OLD)
    updated.guard("before", OLD, former=OTHER)
    updated.guard("before", OTHER, RequestType="Delete")
    assert sorted(updated.arns()) == ["Gpu", "Load"]
    assert (updated.suspended(), updated.is_saved()) == (SUSPENDED, False)


def test_a_first_step_without_a_clean_up_resumes(updated: Guarded) -> None:
    """CloudFormation has given up the step itself, so the endpoint stays as it is."""
    back = dict(updated.event("before", OLD, former=OTHER))
    back["PhysicalResourceId"] = updated.answer(back)["PhysicalResourceId"]
    updated.answer(back)
    assert (updated.suspended(), updated.is_saved()) == (SUSPENDED, False)
