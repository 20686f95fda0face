"""Scheduled actions of the embedded Application Auto Scaling, by its API and by stacks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.scaling import TRACKING_POLICY, actions, code_of, serve, target
from tests.support.embedded_app.stacks import Stacks, endpoint


@pytest.fixture
def scheduled_target(scaling: Any, sagemaker: Any) -> dict[str, str]:
    expected_target = target("scheduled")
    if not sagemaker.list_endpoints(NameContains="scheduled")["Endpoints"]:
        serve(sagemaker, "scheduled")
        scaling.register_scalable_target(**expected_target, MinCapacity=1, MaxCapacity=4)
    return expected_target


@pytest.mark.parametrize(
    "schedule",
    [
        "at(2030-12-24T18:00:00)",
        "rate(1 minute)",
        "rate(12 hours)",
        "cron(0 8 ? * MON-FRI *)",
        "cron(0/15 8-18 1,15 * ? 2030)",
        "cron(0 8 ? * 2#1 *)",
        "cron(0 8 L * ? *)",
    ],
)
def test_a_schedule_is_told_back(scaling: Any, scheduled_target: dict[str, str], schedule: str) -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    scaling.put_scheduled_action(
        **scheduled_target,
        ScheduledActionName="told",
        Schedule=schedule,
        Timezone="Europe/Berlin",
        StartTime=start,
        ScalableTargetAction={"MinCapacity": 2, "MaxCapacity": 3},
    )
    values = actions(scaling, scheduled_target)["told"]
    assert (values["Schedule"], values["Timezone"], values["StartTime"]) == (schedule, "Europe/Berlin", start)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("30 3 * * *", "must have the following syntax"),
        ("every day", "must have the following syntax"),
        ("rate(0 hours)", "must have the following syntax"),
        ("rate(2 weeks)", "must have the following syntax"),
        ("at(2030-12-24 18:00)", "must have the following syntax"),
        ("at(2030-02-30T18:00:00)", "Invalid AT expression"),
        ("cron(0 8 ? * MON-FRI)", "six fields are needed, there are 5"),
        ("cron(0 8 * * MON-FRI *)", "one of day of month and day of week must be '\\?'"),
        ("cron(0 8 ? * ? *)", "one of day of month and day of week must be '\\?'"),
        ("cron(0 8 ? * MON;TUE *)", "Invalid CRON expression: 'MON;TUE'"),
    ],
)
def test_a_schedule_that_aws_refuses_is_refused(
    scaling: Any, scheduled_target: dict[str, str], schedule: str, words: str
) -> None:
    with pytest.raises(ClientError, match=f"Invalid schedule expression. Details: .*{words}") as refusal:
        scaling.put_scheduled_action(
            **scheduled_target,
            ScheduledActionName="refused",
            Schedule=schedule,
            ScalableTargetAction={"MinCapacity": 2},
        )
    assert code_of(refusal) == "ValidationException"
    assert "refused" not in actions(scaling, scheduled_target)


@pytest.mark.parametrize(
    ("changed_values", "words"),
    [
        ({"Timezone": "Europe/Atlantis"}, "Invalid time zone: Europe/Atlantis"),
        ({"Timezone": "Europe"}, "Invalid time zone: Europe"),
        ({"ScalableTargetAction": {"MinCapacity": 0}}, "less than the minimum allowed, 1"),
        ({"ScalableTargetAction": {"MinCapacity": 3, "MaxCapacity": 2}}, "cannot be less than minimum"),
        ({"ScalableTargetAction": {}}, "ScalableTargetAction are needed"),
    ],
)
def test_a_scheduled_action_that_cannot_be_is_refused(
    scaling: Any, scheduled_target: dict[str, str], changed_values: dict[str, Any], words: str
) -> None:
    given_values = {"Schedule": "rate(1 day)", "ScalableTargetAction": {"MinCapacity": 2}} | changed_values
    with pytest.raises(ClientError, match=words) as refusal:
        scaling.put_scheduled_action(**scheduled_target, ScheduledActionName="refused", **given_values)
    assert code_of(refusal) == "ValidationException"
    assert "refused" not in actions(scaling, scheduled_target)


# --- stacks


def scheduled_endpoint(
    name: str, *, minimum: int = 1, schedules: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    resource_id = {"Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/AllTraffic"}
    return {
        **endpoint(name),
        "Target": {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "Properties": {
                **target(name),
                "ResourceId": resource_id,
                "MinCapacity": minimum,
                "MaxCapacity": 4,
                **({} if schedules is None else {"ScheduledActions": schedules}),
            },
        },
        "Policy": {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": {
                "PolicyName": "requests",
                "PolicyType": "TargetTrackingScaling",
                "ScalingTargetId": {"Ref": "Target"},
                "TargetTrackingScalingPolicyConfiguration": TRACKING_POLICY,
            },
        },
    }


def schedule(name: str, expression: str = "cron(0 8 ? * MON-FRI *)", **more: Any) -> dict[str, Any]:
    capacity = {"MinCapacity": 2, "MaxCapacity": 4}
    return {
        "ScheduledActionName": name,
        "Schedule": expression,
        "ScalableTargetAction": capacity,
        "Timezone": "Europe/Berlin",
        **more,
    }


def test_a_stack_brings_its_scheduled_actions_changes_them_and_takes_them_away(
    stacks: Stacks, scaling: Any, host: RecordingHost
) -> None:
    first = [schedule("day", StartTime="2030-01-01T00:00:00Z", EndTime="2031-01-01"), schedule("week")]
    assert stacks.create("hours", scheduled_endpoint("hours", schedules=first)) == "CREATE_COMPLETE"
    made_actions = actions(scaling, target("hours"))
    assert set(made_actions) == {"day", "week"}
    assert made_actions["day"]["Timezone"] == "Europe/Berlin"
    assert made_actions["day"]["StartTime"] == datetime(2030, 1, 1, tzinfo=UTC)
    assert made_actions["day"]["EndTime"] == datetime(2031, 1, 1, tzinfo=UTC)
    assert made_actions["day"]["ScalableTargetAction"] == {"MinCapacity": 2, "MaxCapacity": 4}
    second = [schedule("day", "rate(1 day)"), schedule("year", "at(2030-01-01T00:00:00)")]
    assert stacks.update("hours", scheduled_endpoint("hours", schedules=second)) == "UPDATE_COMPLETE"
    changed_actions = actions(scaling, target("hours"))
    assert set(changed_actions) == {"day", "year"}
    assert (changed_actions["day"]["Schedule"], "StartTime" in changed_actions["day"]) == (
        "rate(1 day)",
        False,
    )
    assert stacks.update("hours", scheduled_endpoint("hours")) == "UPDATE_COMPLETE"
    assert actions(scaling, target("hours")) == {}


def test_a_stack_with_a_wrong_schedule_is_rolled_back_to_its_actions(
    stacks: Stacks, scaling: Any, host: RecordingHost
) -> None:
    stacks.create("wrong", scheduled_endpoint("wrong", schedules=[schedule("day")]))
    broken_values = scheduled_endpoint("wrong", schedules=[schedule("day"), schedule("night", "8 pm")])
    assert stacks.update("wrong", broken_values) == "UPDATE_ROLLBACK_COMPLETE"
    reasons = [reason for text, status, reason in stacks.events("wrong") if status == "UPDATE_FAILED"]
    assert len(reasons) == 1
    assert reasons[0].startswith("Invalid schedule expression. Details: ")
    assert set(actions(scaling, target("wrong"))) == {"day"}


def test_a_stack_is_refused_what_the_api_is_refused(stacks: Stacks, host: RecordingHost) -> None:
    assert stacks.create("nothing", scheduled_endpoint("nothing", minimum=0)) == "ROLLBACK_COMPLETE"
    words = "Minimum capacity 0 is less than the minimum allowed, 1"
    assert ("Target", "CREATE_FAILED", words) in stacks.events("nothing")
    values = scheduled_endpoint("nowhere")
    del values["Endpoint"]
    values["Target"]["Properties"]["ResourceId"] = "endpoint/nowhere/variant/AllTraffic"
    assert stacks.create("nowhere", values) == "ROLLBACK_COMPLETE"
    words = "SageMaker endpoint doesn't exist: endpoint/nowhere/variant/AllTraffic"
    assert ("Target", "CREATE_FAILED", words) in stacks.events("nowhere")


def test_a_target_that_was_deregistered_by_hand_is_not_found_by_an_update_and_no_failure_of_a_deletion(
    stacks: Stacks, scaling: Any, host: RecordingHost
) -> None:
    stacks.create("by-hand", scheduled_endpoint("by-hand", schedules=[schedule("day")]))
    scaling.deregister_scalable_target(**target("by-hand"))
    second_values = scheduled_endpoint("by-hand", minimum=2, schedules=[schedule("day"), schedule("week")])
    assert stacks.update("by-hand", second_values) == "UPDATE_ROLLBACK_COMPLETE"
    assert "HandlerErrorCode: NotFound" in str(stacks.events("by-hand"))
    stack_id = stacks.api.describe_stacks(StackName="by-hand")["Stacks"][0]["StackId"]
    stacks.api.delete_stack(StackName="by-hand")
    assert stacks.final_status(stack_id) == "DELETE_COMPLETE"
