"""The scaling guard for each new configuration: it suspends scaling, waits until the endpoint can be changed, resumes."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from scaling_guard.errors import GuardError
from scaling_guard.scaling import SUSPENSION_STATE as DYNAMIC
from tests.support.embedded_app.host import RecordingHost
from tests.support.endpoint_capacity import await_service
from tests.support.guarded_answers import answering
from tests.support.guarded_endpoint import NEW, OLD, OTHER, SUSPENDED, TAGS, Guarded, StackIds

ASIDE = {**SUSPENDED, **DYNAMIC}
"""The SuspendedState of an endpoint that is to change: its scheduled actions go on."""


def status(endpoint: Guarded) -> str:
    return str(endpoint.sagemaker.describe_endpoint(EndpointName=endpoint.name)["EndpointStatus"])


# --- another configuration


def test_scaling_is_suspended_for_another_configuration_and_resumed_as_it_was(scaled: Guarded) -> None:
    as_it_was = scaled.registered()
    assert "its scaling is suspended until its endpoint has changed" in scaled.guard("before", OTHER)
    assert scaled.suspended() == ASIDE
    assert sorted(scaled.names()) == ["Gpu", "Load", "launch", "night"]
    scaled.move(OTHER)
    scaled.guard("after", OTHER)
    assert scaled.suspended() == SUSPENDED
    assert (scaled.registered(), scaled.is_saved()) == (as_it_was, False)


def test_a_suspension_that_is_ended_by_hand_meanwhile_stays_so(scaled: Guarded) -> None:
    by_hand = dict.fromkeys(ASIDE, False)
    scaled.guard("before", OTHER)
    scaled.scaling.register_scalable_target(**scaled.target, SuspendedState=by_hand)
    scaled.move(OTHER)
    scaled.guard("after", OTHER)
    assert scaled.suspended() == by_hand


def test_a_range_that_is_changed_by_hand_meanwhile_stays(scaled: Guarded) -> None:
    scaled.guard("before", OTHER)
    scaled.scaling.register_scalable_target(**scaled.target, MaxCapacity=9)
    scaled.move(OTHER)
    scaled.guard("after", OTHER)
    assert scaled.registered()["ScalableTargets"][0]["MaxCapacity"] == 9


def test_an_update_that_sagemaker_rolled_back_without_a_word_fails_with_the_same_type_too(
    scaled: Guarded,
) -> None:
    scaled.guard("before", OTHER)
    with pytest.raises(GuardError, match="SageMaker did not keep the update"):
        scaled.guard("after", OTHER)


def test_a_target_keeps_its_tags_when_it_is_registered_again(scaled: Guarded) -> None:
    scaled.guard("before", NEW)
    scaled.move(NEW)
    scaled.guard("after", NEW)
    assert scaled.registered()["Tags"] == [TAGS]


def test_tags_that_aws_reserves_are_not_given_again(scaled: Guarded) -> None:
    clients = answering(
        scaled, "ListTagsForResource", Tags={**TAGS, "aws:cloudformation:stack-name": "any", "AWS:x": "any"}
    )
    scaled.answer(scaled.event("before", NEW), clients)
    assert scaled.saved()["target"]["Tags"] == TAGS


def test_a_suspension_of_everything_by_an_earlier_release_ends(scaled: Guarded) -> None:
    scaled.guard("before", OTHER)
    scaled.scaling.register_scalable_target(**scaled.target, SuspendedState=dict.fromkeys(ASIDE, True))
    scaled.move(OTHER)
    scaled.guard("after", OTHER)
    assert scaled.suspended() == SUSPENDED


def test_a_first_deploy_asks_nothing_of_sagemaker_and_waits_for_nothing(scaled: Guarded) -> None:
    requested_lines: list[str] = []
    event = dict(scaled.event("before", OLD, RequestType="Create"))
    clients = scaled.account.clients(before=lambda operation, _: requested_lines.append(operation))
    assert scaled.answer(event, clients)["IsComplete"]
    assert requested_lines == ["ListObjectsV2"]


# --- what is waited for


def test_scaling_in_progress_is_waited_for_and_named_in_the_log(
    aws: EmbeddedAws, scaled: Guarded, slow: RecordingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.scale(scaled.name, 4, region="us-east-1")
    records: list[tuple[str, dict[str, bool]]] = []

    def settle() -> None:
        records.append((status(scaled), scaled.suspended()))
        slow.may_scale.set()
        await_service(scaled.sagemaker, scaled.name)

    scaled.meanwhile = settle
    scaled.guard("before", OTHER)
    assert records == [("Updating", ASIDE)]
    assert f"Waiting: endpoint {scaled.name} is Updating" in capsys.readouterr().out
    scaled.move(OTHER)
    scaled.guard("after", OTHER)
    assert scaled.suspended() == SUSPENDED


def test_an_activity_that_has_not_reached_the_endpoint_is_waited_for(
    scaled: Guarded, capsys: pytest.CaptureFixture[str]
) -> None:
    pending_values = [
        {"ActivityId": "1", "StatusCode": "Pending", "Description": "Setting desired instance count to 3."}
    ]

    def after(name: str, parsed_values: dict[str, Any]) -> None:
        if name == "DescribeScalingActivities":
            parsed_values["ScalingActivities"] = list(pending_values)

    scaled.meanwhile = pending_values.clear
    scaled.answer(scaled.event("before", OTHER), scaled.account.clients(after=after))
    words = (
        f"a scaling activity of variant AllTraffic of endpoint {scaled.name} is in progress: Setting desired"
    )
    assert f"Waiting: {words} instance count to 3." in capsys.readouterr().out


def test_an_activity_that_is_too_long_ends_with_the_command_that_shows_it(scaled: Guarded) -> None:
    pending_values = [{"ActivityId": "1", "StatusCode": "InProgress"}]
    clients = answering(scaled, "DescribeScalingActivities", ScalingActivities=pending_values)
    with pytest.raises(GuardError) as failure:
        scaled.answer_too_late(scaled.event("before", OTHER), clients)
    assert str(failure.value).endswith(
        "Wait until `aws application-autoscaling describe-scaling-activities --region us-east-1 --service-namespace "
        f"sagemaker --resource-id {scaled.target['ResourceId']}` shows none in progress, then deploy again."
    )


@pytest.mark.parametrize("state", ["Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting"])
def test_an_endpoint_under_way_is_waited_for_whether_it_is_scaled_or_not(bare: Guarded, state: str) -> None:
    clients = answering(bare, "DescribeEndpoint", EndpointStatus=state)
    with pytest.raises(AssertionError, match="the guard waits"):
        bare.answer(bare.event("before", OTHER), clients)


@pytest.mark.parametrize("state", ["Failed", "UpdateRollbackFailed", "OutOfService"])
def test_an_endpoint_that_does_not_settle_is_not_waited_for(scaled: Guarded, state: str) -> None:
    scaled.answer(scaled.event("before", OTHER), answering(scaled, "DescribeEndpoint", EndpointStatus=state))
    assert scaled.suspended() == ASIDE


def test_a_wait_that_is_too_long_ends_with_a_remedy_and_without_suspension(scaled: Guarded) -> None:
    clients = answering(scaled, "DescribeEndpoint", EndpointStatus="SystemUpdating")
    with pytest.raises(GuardError) as failure:
        scaled.answer_too_late(scaled.event("before", OTHER), clients)
    assert str(failure.value) == (
        f"The update cannot begin: endpoint {scaled.name} is SystemUpdating, for more than 50 minutes. "
        f"Wait until `aws sagemaker wait endpoint-in-service --region us-east-1 --endpoint-name {scaled.name}` "
        "ends, then deploy again."
    )
    assert scaled.suspended() == SUSPENDED


def test_in_a_rollback_a_wait_that_is_too_long_is_reported_only_and_the_clean_up_resumes(
    scaled: Guarded, stack_ids: StackIds
) -> None:
    scaled.guard("before", OTHER)
    scaled.move(OTHER)
    scaled.stack_id = stack_ids.rolling_back
    clients = answering(scaled, "DescribeEndpoint", EndpointStatus="Updating")
    did = scaled.answer_too_late(scaled.event("before", OLD, former=OTHER), clients)["Data"]["Summary"]
    assert did.startswith("Reported only, because the stack rolls back: The update cannot begin: endpoint ")
    assert scaled.suspended() == ASIDE
    scaled.move(OLD)
    scaled.guard("before", OTHER, RequestType="Delete")
    assert (scaled.suspended(), scaled.is_saved()) == (SUSPENDED, False)


# --- the stack's own policies


def test_a_policy_that_the_update_replaces_makes_room_and_others_stay(scaled: Guarded) -> None:
    scaled.own = {OLD: ["Load"], NEW: ["Load-new"]}
    scaled.guard("before", NEW, former=OLD)
    scaled.move(NEW)
    scaled.guard("after", NEW, former=OLD)
    assert sorted(scaled.arns()) == ["Gpu"]
    scaled.put_policy("Load-new", 5)
    scaled.guard("after", OLD, former=OLD, RequestType="Delete")
    assert not scaled.is_saved()


def test_a_policy_with_the_same_name_in_both_templates_comes_back_as_cloudformation_makes_none(
    scaled: Guarded,
) -> None:
    scaled.own = {OLD: ["Load"], NEW: ["Load"]}
    scaled.guard("before", NEW, former=OLD)
    scaled.move(NEW)
    scaled.guard("after", NEW, former=OLD)
    assert sorted(scaled.arns()) == ["Gpu", "Load"]


def test_policies_of_an_earlier_release_make_room_and_a_rollback_brings_them_back(
    scaled: Guarded, stack_ids: StackIds
) -> None:
    scaled.put_policy("CpuUtilization", 70)
    scaled.own = {OLD: ["CpuUtilization-new"]}
    as_it_was = scaled.registered()
    earlier = {
        key: value
        for key, value in scaled.properties("after", OLD).items()
        if key not in ("EndpointConfigName", "Policies")
    }
    scaled.answer(scaled.event("after", OLD, OldResourceProperties=earlier))
    assert sorted(scaled.arns()) == ["Gpu", "Load"]
    scaled.put_policy("CpuUtilization-new", 70)
    scaled.stack_id = stack_ids.rolling_back
    back = scaled.event("after", OLD)
    back = {**back, "ResourceProperties": earlier, "OldResourceProperties": back["ResourceProperties"]}
    assert scaled.answer(back)["PhysicalResourceId"].endswith(f"/After/{OLD}")
    scaled.guard("after", OLD, RequestType="Delete")
    assert (scaled.registered(), scaled.is_saved()) == (as_it_was, False)
