"""The scaling guard for each new configuration: it suspends scaling, waits until the endpoint can be changed, resumes."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from scaling_guard.errors import GuardError
from scaling_guard.scaling import SUSPENSION_STATE as DYNAMIC
from tests.support.embedded_app.host import RecordingHost
from tests.support.endpoint_capacity import await_service
from tests.support.guarded_answers import clients_with_answer
from tests.support.guarded_endpoint import (
    NEW,
    OLD,
    OTHER_CONFIG,
    SUSPENDED_STATE,
    TAGS,
    GuardedEndpoint,
    StackIds,
)

ASIDE = {**SUSPENDED_STATE, **DYNAMIC}
"""The SuspendedState of an endpoint that is to change: its scheduled actions go on."""


def status(endpoint: GuardedEndpoint) -> str:
    return str(endpoint.sagemaker.describe_endpoint(EndpointName=endpoint.name)["EndpointStatus"])


# --- another configuration


def test_scaling_is_suspended_for_another_configuration_and_resumed_as_it_was(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    as_it_was = scaled_endpoint.registered_target()
    assert "its scaling is suspended until its endpoint has changed" in scaled_endpoint.guard(
        "before", OTHER_CONFIG
    )
    assert scaled_endpoint.suspension_by_kind() == ASIDE
    assert sorted(scaled_endpoint.names()) == ["Gpu", "Load", "launch", "night"]
    scaled_endpoint.move(OTHER_CONFIG)
    scaled_endpoint.guard("after", OTHER_CONFIG)
    assert scaled_endpoint.suspension_by_kind() == SUSPENDED_STATE
    assert (scaled_endpoint.registered_target(), scaled_endpoint.is_saved()) == (as_it_was, False)


def test_a_suspension_that_is_ended_by_hand_meanwhile_stays_so(scaled_endpoint: GuardedEndpoint) -> None:
    by_hand = dict.fromkeys(ASIDE, False)
    scaled_endpoint.guard("before", OTHER_CONFIG)
    scaled_endpoint.scaling.register_scalable_target(**scaled_endpoint.target, SuspendedState=by_hand)
    scaled_endpoint.move(OTHER_CONFIG)
    scaled_endpoint.guard("after", OTHER_CONFIG)
    assert scaled_endpoint.suspension_by_kind() == by_hand


def test_a_range_that_is_changed_by_hand_meanwhile_stays(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", OTHER_CONFIG)
    scaled_endpoint.scaling.register_scalable_target(**scaled_endpoint.target, MaxCapacity=9)
    scaled_endpoint.move(OTHER_CONFIG)
    scaled_endpoint.guard("after", OTHER_CONFIG)
    assert scaled_endpoint.registered_target()["ScalableTargets"][0]["MaxCapacity"] == 9


def test_an_update_that_sagemaker_rolled_back_without_a_word_fails_with_the_same_type_too(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    scaled_endpoint.guard("before", OTHER_CONFIG)
    with pytest.raises(GuardError, match="SageMaker did not keep the update"):
        scaled_endpoint.guard("after", OTHER_CONFIG)


def test_a_target_keeps_its_tags_when_it_is_registered_again(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", NEW)
    scaled_endpoint.move(NEW)
    scaled_endpoint.guard("after", NEW)
    assert scaled_endpoint.registered_target()["Tags"] == [TAGS]


def test_tags_that_aws_reserves_are_not_given_again(scaled_endpoint: GuardedEndpoint) -> None:
    clients = clients_with_answer(
        scaled_endpoint,
        "ListTagsForResource",
        Tags={**TAGS, "aws:cloudformation:stack-name": "any", "AWS:x": "any"},
    )
    scaled_endpoint.answer(scaled_endpoint.event("before", NEW), clients)
    assert scaled_endpoint.saved_state()["target"]["Tags"] == TAGS


def test_a_suspension_of_everything_by_an_earlier_release_ends(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", OTHER_CONFIG)
    scaled_endpoint.scaling.register_scalable_target(
        **scaled_endpoint.target, SuspendedState=dict.fromkeys(ASIDE, True)
    )
    scaled_endpoint.move(OTHER_CONFIG)
    scaled_endpoint.guard("after", OTHER_CONFIG)
    assert scaled_endpoint.suspension_by_kind() == SUSPENDED_STATE


def test_a_first_deploy_asks_nothing_of_sagemaker_and_waits_for_nothing(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    requested_lines: list[str] = []
    event = dict(scaled_endpoint.event("before", OLD, RequestType="Create"))
    clients = scaled_endpoint.account.clients(before=lambda operation, _: requested_lines.append(operation))
    assert scaled_endpoint.answer(event, clients)["IsComplete"]
    assert requested_lines == ["ListObjectsV2"]


# --- what is waited for


def test_scaling_in_progress_is_waited_for_and_named_in_the_log(
    aws: EmbeddedAws,
    scaled_endpoint: GuardedEndpoint,
    slow: RecordingHost,
    capsys: pytest.CaptureFixture[str],
) -> None:
    aws.scale(scaled_endpoint.name, 4, region="us-east-1")
    records: list[tuple[str, dict[str, bool]]] = []

    def settle() -> None:
        records.append((status(scaled_endpoint), scaled_endpoint.suspension_by_kind()))
        slow.may_scale.set()
        await_service(scaled_endpoint.sagemaker, scaled_endpoint.name)

    scaled_endpoint.meanwhile = settle
    scaled_endpoint.guard("before", OTHER_CONFIG)
    assert records == [("Updating", ASIDE)]
    assert f"Waiting: endpoint {scaled_endpoint.name} is Updating" in capsys.readouterr().out
    scaled_endpoint.move(OTHER_CONFIG)
    scaled_endpoint.guard("after", OTHER_CONFIG)
    assert scaled_endpoint.suspension_by_kind() == SUSPENDED_STATE


def test_an_activity_that_has_not_reached_the_endpoint_is_waited_for(
    scaled_endpoint: GuardedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    pending_values = [
        {"ActivityId": "1", "StatusCode": "Pending", "Description": "Setting desired instance count to 3."}
    ]

    def after(name: str, parsed: dict[str, Any]) -> None:
        if name == "DescribeScalingActivities":
            parsed["ScalingActivities"] = list(pending_values)

    scaled_endpoint.meanwhile = pending_values.clear
    scaled_endpoint.answer(
        scaled_endpoint.event("before", OTHER_CONFIG), scaled_endpoint.account.clients(after=after)
    )
    words = f"a scaling activity of variant AllTraffic of endpoint {scaled_endpoint.name} is in progress: Setting desired"
    assert f"Waiting: {words} instance count to 3." in capsys.readouterr().out


def test_an_activity_that_is_too_long_ends_with_the_command_that_shows_it(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    pending_values = [{"ActivityId": "1", "StatusCode": "InProgress"}]
    clients = clients_with_answer(
        scaled_endpoint, "DescribeScalingActivities", ScalingActivities=pending_values
    )
    with pytest.raises(GuardError) as failure:
        scaled_endpoint.answer_too_late(scaled_endpoint.event("before", OTHER_CONFIG), clients)
    assert str(failure.value).endswith(
        "Wait until `aws application-autoscaling describe-scaling-activities --region us-east-1 --service-namespace "
        f"sagemaker --resource-id {scaled_endpoint.target['ResourceId']}` shows none in progress, then deploy again."
    )


@pytest.mark.parametrize("state", ["Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting"])
def test_an_endpoint_under_way_is_waited_for_whether_it_is_scaled_or_not(
    bare: GuardedEndpoint, state: str
) -> None:
    clients = clients_with_answer(bare, "DescribeEndpoint", EndpointStatus=state)
    with pytest.raises(AssertionError, match="the guard waits"):
        bare.answer(bare.event("before", OTHER_CONFIG), clients)


@pytest.mark.parametrize("state", ["Failed", "UpdateRollbackFailed", "OutOfService"])
def test_an_endpoint_that_does_not_settle_is_not_waited_for(
    scaled_endpoint: GuardedEndpoint, state: str
) -> None:
    scaled_endpoint.answer(
        scaled_endpoint.event("before", OTHER_CONFIG),
        clients_with_answer(scaled_endpoint, "DescribeEndpoint", EndpointStatus=state),
    )
    assert scaled_endpoint.suspension_by_kind() == ASIDE


def test_a_wait_that_is_too_long_ends_with_a_remedy_and_without_suspension(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    clients = clients_with_answer(scaled_endpoint, "DescribeEndpoint", EndpointStatus="SystemUpdating")
    with pytest.raises(GuardError) as failure:
        scaled_endpoint.answer_too_late(scaled_endpoint.event("before", OTHER_CONFIG), clients)
    assert str(failure.value) == (
        f"The update cannot begin: endpoint {scaled_endpoint.name} is SystemUpdating, for more than 50 minutes. "
        f"Wait until `aws sagemaker wait endpoint-in-service --region us-east-1 --endpoint-name {scaled_endpoint.name}` "
        "ends, then deploy again."
    )
    assert scaled_endpoint.suspension_by_kind() == SUSPENDED_STATE


def test_in_a_rollback_a_wait_that_is_too_long_is_reported_only_and_the_clean_up_resumes(
    scaled_endpoint: GuardedEndpoint, stack_ids: StackIds
) -> None:
    scaled_endpoint.guard("before", OTHER_CONFIG)
    scaled_endpoint.move(OTHER_CONFIG)
    scaled_endpoint.stack_id = stack_ids.rolling_back
    clients = clients_with_answer(scaled_endpoint, "DescribeEndpoint", EndpointStatus="Updating")
    did = scaled_endpoint.answer_too_late(scaled_endpoint.event("before", OLD, former=OTHER_CONFIG), clients)[
        "Data"
    ]["Summary"]
    assert did.startswith("Reported only, because the stack rolls back: The update cannot begin: endpoint ")
    assert scaled_endpoint.suspension_by_kind() == ASIDE
    scaled_endpoint.move(OLD)
    scaled_endpoint.guard("before", OTHER_CONFIG, RequestType="Delete")
    assert (scaled_endpoint.suspension_by_kind(), scaled_endpoint.is_saved()) == (SUSPENDED_STATE, False)


# --- the stack's own policies


def test_a_policy_that_the_update_replaces_makes_room_and_others_stay(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    scaled_endpoint.own = {OLD: ["Load"], NEW: ["Load-new"]}
    scaled_endpoint.guard("before", NEW, former=OLD)
    scaled_endpoint.move(NEW)
    scaled_endpoint.guard("after", NEW, former=OLD)
    assert sorted(scaled_endpoint.arns()) == ["Gpu"]
    scaled_endpoint.put_policy("Load-new", 5)
    scaled_endpoint.guard("after", OLD, former=OLD, RequestType="Delete")
    assert not scaled_endpoint.is_saved()


def test_a_policy_with_the_same_name_in_both_templates_comes_back_as_cloudformation_makes_none(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    scaled_endpoint.own = {OLD: ["Load"], NEW: ["Load"]}
    scaled_endpoint.guard("before", NEW, former=OLD)
    scaled_endpoint.move(NEW)
    scaled_endpoint.guard("after", NEW, former=OLD)
    assert sorted(scaled_endpoint.arns()) == ["Gpu", "Load"]


def test_policies_of_an_earlier_release_make_room_and_a_rollback_brings_them_back(
    scaled_endpoint: GuardedEndpoint, stack_ids: StackIds
) -> None:
    scaled_endpoint.put_policy("CpuUtilization", 70)
    scaled_endpoint.own = {OLD: ["CpuUtilization-new"]}
    as_it_was = scaled_endpoint.registered_target()
    earlier = {
        key: value
        for key, value in scaled_endpoint.properties("after", OLD).items()
        if key not in ("EndpointConfigName", "Policies")
    }
    scaled_endpoint.answer(scaled_endpoint.event("after", OLD, OldResourceProperties=earlier))
    assert sorted(scaled_endpoint.arns()) == ["Gpu", "Load"]
    scaled_endpoint.put_policy("CpuUtilization-new", 70)
    scaled_endpoint.stack_id = stack_ids.rolling_back
    back = scaled_endpoint.event("after", OLD)
    back = {**back, "ResourceProperties": earlier, "OldResourceProperties": back["ResourceProperties"]}
    assert scaled_endpoint.answer(back)["PhysicalResourceId"].endswith(f"/After/{OLD}")
    scaled_endpoint.guard("after", OLD, RequestType="Delete")
    assert (scaled_endpoint.registered_target(), scaled_endpoint.is_saved()) == (as_it_was, False)
