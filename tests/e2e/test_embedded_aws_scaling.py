"""The embedded Application Auto Scaling: what it takes, what it refuses, and what goes with its target."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.local.aws.server import EmbeddedAws
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.host import RecordingHost
from tests.e2e.embedded_app.stacks import DATA, ROLE, Stacks, endpoint

COUNT = "sagemaker:variant:DesiredInstanceCount"
TRACKING = {
    "TargetValue": 70.0,
    "PredefinedMetricSpecification": {"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"},
    "ScaleInCooldown": 0,
    "ScaleOutCooldown": 0,
}
OTHER = {
    "ServiceNamespace": "lambda",
    "ResourceId": "function:f:alias",
    "ScalableDimension": "lambda:function:ProvisionedConcurrency",
}


@pytest.fixture
def scaling(aws: EmbeddedAws) -> Any:
    return client(aws, "application-autoscaling")


@pytest.fixture
def sagemaker(aws: EmbeddedAws, host: RecordingHost) -> Any:
    return client(aws, "sagemaker")


def serve(sagemaker: Any, name: str, *, variants: tuple[str, ...] = ("AllTraffic",), **config: Any) -> None:
    container = {"Image": "triton:25.04", "ModelDataUrl": DATA}
    sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=container)
    declared = [
        {"VariantName": v, "ModelName": name, "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}
        for v in variants
    ]
    sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=declared, **config)
    sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)


def target(endpoint_name: str, variant: str = "AllTraffic") -> dict[str, str]:
    resource_id = f"endpoint/{endpoint_name}/variant/{variant}"
    return {"ServiceNamespace": "sagemaker", "ResourceId": resource_id, "ScalableDimension": COUNT}


def registered(scaling: Any, wanted: dict[str, str]) -> dict[str, Any]:
    [found] = scaling.describe_scalable_targets(
        ServiceNamespace=wanted["ServiceNamespace"], ResourceIds=[wanted["ResourceId"]]
    )["ScalableTargets"]
    return dict(found)


def actions(scaling: Any, wanted: dict[str, str]) -> dict[str, dict[str, Any]]:
    found = scaling.describe_scheduled_actions(**wanted)["ScheduledActions"]
    return {action["ScheduledActionName"]: action for action in found}


def code_of(refused: pytest.ExceptionInfo[ClientError]) -> str:
    return str(refused.value.response["Error"]["Code"])


# --- targets


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (target("absent"), "SageMaker endpoint doesn't exist: endpoint/absent/variant/AllTraffic"),
        (target("there", "Absent"), "SageMaker variant doesn't exist: endpoint/there/variant/Absent"),
        (target("there") | {"ResourceId": "endpoint/there"}, "Unsupported service namespace, resource type"),
    ],
)
def test_a_variant_that_is_not_served_cannot_be_registered(
    scaling: Any, sagemaker: Any, wanted: dict[str, str], words: str
) -> None:
    if not sagemaker.list_endpoints(NameContains="there")["Endpoints"]:
        serve(sagemaker, "there")
    with pytest.raises(ClientError, match=words) as refused:
        scaling.register_scalable_target(**wanted, MinCapacity=1, MaxCapacity=2)
    assert code_of(refused) == "ValidationException"
    ids = [wanted["ResourceId"]]
    found = scaling.describe_scalable_targets(ServiceNamespace="sagemaker", ResourceIds=ids)
    assert found["ScalableTargets"] == []


def test_a_variant_is_never_scaled_to_nothing_except_for_asynchronous_inference(
    scaling: Any, sagemaker: Any
) -> None:
    serve(sagemaker, "busy")
    with pytest.raises(
        ClientError, match="Minimum capacity 0 is less than the minimum allowed, 1"
    ) as refused:
        scaling.register_scalable_target(**target("busy"), MinCapacity=0, MaxCapacity=2)
    assert code_of(refused) == "ValidationException"
    serve(sagemaker, "idle", AsyncInferenceConfig={"OutputConfig": {"S3OutputPath": "s3://data/out"}})
    scaling.register_scalable_target(**target("idle"), MinCapacity=0, MaxCapacity=2)
    assert registered(scaling, target("idle"))["MinCapacity"] == 0


def test_capacities_are_needed_once_and_may_be_zero_where_the_service_lets_them(scaling: Any) -> None:
    with pytest.raises(ClientError, match="Both MinCapacity and MaxCapacity are needed"):
        scaling.register_scalable_target(**OTHER, MaxCapacity=2)
    with pytest.raises(ClientError, match="Maximum capacity cannot be less than minimum capacity"):
        scaling.register_scalable_target(**OTHER, MinCapacity=3, MaxCapacity=2)
    scaling.register_scalable_target(**OTHER, MinCapacity=1, MaxCapacity=2)
    scaling.register_scalable_target(**OTHER, MinCapacity=0)
    found = registered(scaling, OTHER)
    assert (found["MinCapacity"], found["MaxCapacity"]) == (0, 2)
    scaling.put_scheduled_action(
        **OTHER,
        ScheduledActionName="night",
        Schedule="rate(1 day)",
        ScalableTargetAction={"MinCapacity": 0, "MaxCapacity": 0},
    )
    assert actions(scaling, OTHER)["night"]["ScalableTargetAction"] == {"MinCapacity": 0, "MaxCapacity": 0}
    scaling.deregister_scalable_target(**OTHER)


def test_a_target_shows_its_role_and_all_three_suspensions(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "suspended")
    scaling.register_scalable_target(**target("suspended"), MinCapacity=1, MaxCapacity=2)
    states = [registered(scaling, target("suspended"))["SuspendedState"]]
    scaling.register_scalable_target(
        **target("suspended"), SuspendedState={"DynamicScalingInSuspended": True}
    )
    scaling.register_scalable_target(
        **target("suspended"), SuspendedState={"ScheduledScalingSuspended": True}
    )
    states.append(registered(scaling, target("suspended"))["SuspendedState"])
    names = ("DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended")
    assert [[state[name] for name in names] for state in states] == [[False] * 3, [True, False, True]]
    found = registered(scaling, target("suspended"))
    assert (found["MinCapacity"], found["MaxCapacity"]) == (1, 2)
    assert found["RoleARN"].endswith("/AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint")


def test_a_target_takes_its_policies_and_scheduled_actions_with_it_and_leaves_others(
    scaling: Any, sagemaker: Any
) -> None:
    serve(sagemaker, "leaving", variants=("v", "v2"))
    for variant in ("v", "v2"):
        wanted = target("leaving", variant)
        scaling.register_scalable_target(**wanted, MinCapacity=1, MaxCapacity=2)
        scaling.put_scaling_policy(
            **wanted,
            PolicyName="requests",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration=TRACKING,
        )
        scaling.put_scheduled_action(
            **wanted,
            ScheduledActionName="day",
            Schedule="cron(0 8 ? * MON-FRI *)",
            Timezone="Europe/Berlin",
            ScalableTargetAction={"MinCapacity": 2},
        )
    [_] = scaling.describe_scaling_policies(**target("leaving", "v2"))["ScalingPolicies"]
    scaling.deregister_scalable_target(**target("leaving", "v"))
    assert scaling.describe_scaling_policies(**target("leaving", "v"))["ScalingPolicies"] == []
    assert actions(scaling, target("leaving", "v")) == {}
    [policy] = scaling.describe_scaling_policies(**target("leaving", "v2"))["ScalingPolicies"]
    assert policy["TargetTrackingScalingPolicyConfiguration"] == TRACKING
    assert set(actions(scaling, target("leaving", "v2"))) == {"day"}
    scaling.register_scalable_target(**target("leaving", "v"), MinCapacity=1, MaxCapacity=2)
    assert scaling.describe_scaling_policies(**target("leaving", "v"))["ScalingPolicies"] == []


def test_what_is_not_there_is_not_found(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "bare")
    gone = "service namespace: sagemaker, resource ID: endpoint/bare/variant/AllTraffic, scalable dimension: "
    tracking = {"PolicyType": "TargetTrackingScaling", "TargetTrackingScalingPolicyConfiguration": TRACKING}
    put = {"Schedule": "rate(1 day)", "ScalableTargetAction": {"MinCapacity": 1}}
    policy, action = {"PolicyName": "p"}, {"ScheduledActionName": "a"}
    calls: list[tuple[Any, dict[str, Any], str]] = [
        (scaling.deregister_scalable_target, {}, "No scalable target found for"),
        (scaling.put_scaling_policy, policy | tracking, "No scalable target registered for"),
        (scaling.put_scheduled_action, action | put, "No scalable target registered for"),
        (scaling.delete_scaling_policy, policy, "No scaling policy found for"),
        (scaling.delete_scheduled_action, action, "No scheduled action found for"),
    ]
    for call, given, words in calls:
        with pytest.raises(ClientError, match=f"{words} {gone}") as refused:
            call(**target("bare"), **given)
        assert code_of(refused) == "ObjectNotFoundException"


def test_an_endpoint_that_is_deleted_is_deregistered_and_no_other(scaling: Any, sagemaker: Any) -> None:
    for name in ("ending", "ending-not"):
        serve(sagemaker, name)
        scaling.register_scalable_target(**target(name), MinCapacity=1, MaxCapacity=2)
    sagemaker.delete_endpoint(EndpointName="ending")
    found = scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    ids = {each["ResourceId"] for each in found}
    assert "endpoint/ending/variant/AllTraffic" not in ids
    assert "endpoint/ending-not/variant/AllTraffic" in ids


# --- policies


def test_a_policy_that_is_put_again_keeps_its_arn(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "tracked")
    scaling.register_scalable_target(**target("tracked"), MinCapacity=1, MaxCapacity=2)
    arns = [
        scaling.put_scaling_policy(
            **target("tracked"),
            PolicyName="requests",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration={**TRACKING, "TargetValue": value},
        )["PolicyARN"]
        for value in (70.0, 50.0)
    ]
    [policy] = scaling.describe_scaling_policies(**target("tracked"))["ScalingPolicies"]
    assert arns == [policy["PolicyARN"]] * 2
    assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 50.0


# --- schedules


@pytest.fixture
def scheduled(scaling: Any, sagemaker: Any) -> dict[str, str]:
    wanted = target("scheduled")
    if not sagemaker.list_endpoints(NameContains="scheduled")["Endpoints"]:
        serve(sagemaker, "scheduled")
        scaling.register_scalable_target(**wanted, MinCapacity=1, MaxCapacity=4)
    return wanted


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
def test_a_schedule_is_told_back(scaling: Any, scheduled: dict[str, str], schedule: str) -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    scaling.put_scheduled_action(
        **scheduled,
        ScheduledActionName="told",
        Schedule=schedule,
        Timezone="Europe/Berlin",
        StartTime=start,
        ScalableTargetAction={"MinCapacity": 2, "MaxCapacity": 3},
    )
    told = actions(scaling, scheduled)["told"]
    assert (told["Schedule"], told["Timezone"], told["StartTime"]) == (schedule, "Europe/Berlin", start)


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
    scaling: Any, scheduled: dict[str, str], schedule: str, words: str
) -> None:
    with pytest.raises(ClientError, match=f"Invalid schedule expression. Details: .*{words}") as refused:
        scaling.put_scheduled_action(
            **scheduled,
            ScheduledActionName="refused",
            Schedule=schedule,
            ScalableTargetAction={"MinCapacity": 2},
        )
    assert code_of(refused) == "ValidationException"
    assert "refused" not in actions(scaling, scheduled)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"Timezone": "Europe/Atlantis"}, "Invalid time zone: Europe/Atlantis"),
        ({"Timezone": "Europe"}, "Invalid time zone: Europe"),
        ({"ScalableTargetAction": {"MinCapacity": 0}}, "less than the minimum allowed, 1"),
        ({"ScalableTargetAction": {"MinCapacity": 3, "MaxCapacity": 2}}, "cannot be less than minimum"),
        ({"ScalableTargetAction": {}}, "ScalableTargetAction are needed"),
    ],
)
def test_a_scheduled_action_that_cannot_be_is_refused(
    scaling: Any, scheduled: dict[str, str], changed: dict[str, Any], words: str
) -> None:
    given = {"Schedule": "rate(1 day)", "ScalableTargetAction": {"MinCapacity": 2}} | changed
    with pytest.raises(ClientError, match=words) as refused:
        scaling.put_scheduled_action(**scheduled, ScheduledActionName="refused", **given)
    assert code_of(refused) == "ValidationException"
    assert "refused" not in actions(scaling, scheduled)


# --- stacks


def scaled(name: str, *, minimum: int = 1, schedules: list[dict[str, Any]] | None = None) -> dict[str, Any]:
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
                "TargetTrackingScalingPolicyConfiguration": TRACKING,
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
    assert stacks.create("hours", scaled("hours", schedules=first)) == "CREATE_COMPLETE"
    made = actions(scaling, target("hours"))
    assert set(made) == {"day", "week"}
    assert made["day"]["Timezone"] == "Europe/Berlin"
    assert made["day"]["StartTime"] == datetime(2030, 1, 1, tzinfo=UTC)
    assert made["day"]["EndTime"] == datetime(2031, 1, 1, tzinfo=UTC)
    assert made["day"]["ScalableTargetAction"] == {"MinCapacity": 2, "MaxCapacity": 4}
    second = [schedule("day", "rate(1 day)"), schedule("year", "at(2030-01-01T00:00:00)")]
    assert stacks.update("hours", scaled("hours", schedules=second)) == "UPDATE_COMPLETE"
    changed = actions(scaling, target("hours"))
    assert set(changed) == {"day", "year"}
    assert (changed["day"]["Schedule"], "StartTime" in changed["day"]) == ("rate(1 day)", False)
    assert stacks.update("hours", scaled("hours")) == "UPDATE_COMPLETE"
    assert actions(scaling, target("hours")) == {}


def test_a_stack_with_a_wrong_schedule_is_rolled_back_to_its_actions(
    stacks: Stacks, scaling: Any, host: RecordingHost
) -> None:
    stacks.create("wrong", scaled("wrong", schedules=[schedule("day")]))
    broken = scaled("wrong", schedules=[schedule("day"), schedule("night", "8 pm")])
    assert stacks.update("wrong", broken) == "UPDATE_ROLLBACK_COMPLETE"
    reasons = [reason for who, status, reason in stacks.events("wrong") if status == "UPDATE_FAILED"]
    assert len(reasons) == 1
    assert reasons[0].startswith("Invalid schedule expression. Details: ")
    assert set(actions(scaling, target("wrong"))) == {"day"}


def test_a_stack_is_refused_what_the_api_is_refused(stacks: Stacks, host: RecordingHost) -> None:
    assert stacks.create("nothing", scaled("nothing", minimum=0)) == "ROLLBACK_COMPLETE"
    words = "Minimum capacity 0 is less than the minimum allowed, 1"
    assert ("Target", "CREATE_FAILED", words) in stacks.events("nothing")
    lost = scaled("nowhere")
    del lost["Endpoint"]
    lost["Target"]["Properties"]["ResourceId"] = "endpoint/nowhere/variant/AllTraffic"
    assert stacks.create("nowhere", lost) == "ROLLBACK_COMPLETE"
    words = "SageMaker endpoint doesn't exist: endpoint/nowhere/variant/AllTraffic"
    assert ("Target", "CREATE_FAILED", words) in stacks.events("nowhere")


def test_a_stack_whose_target_was_deregistered_by_hand_can_be_updated_and_deleted(
    stacks: Stacks, scaling: Any, host: RecordingHost
) -> None:
    stacks.create("by-hand", scaled("by-hand", schedules=[schedule("day")]))
    scaling.deregister_scalable_target(**target("by-hand"))
    again = scaled("by-hand", minimum=2, schedules=[schedule("day"), schedule("week")])
    assert stacks.update("by-hand", again) == "UPDATE_COMPLETE"
    assert registered(scaling, target("by-hand"))["MinCapacity"] == 2
    assert set(actions(scaling, target("by-hand"))) == {"day", "week"}
    scaling.deregister_scalable_target(**target("by-hand"))
    stack_id = stacks.api.describe_stacks(StackName="by-hand")["Stacks"][0]["StackId"]
    stacks.api.delete_stack(StackName="by-hand")
    assert stacks.settled(stack_id) == "DELETE_COMPLETE"
