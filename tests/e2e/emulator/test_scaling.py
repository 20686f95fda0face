"""The embedded Application Auto Scaling: what it takes, what it refuses, and what goes with its target."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_app.scaling import (
    OTHER_TARGET,
    TRACKING_POLICY,
    actions,
    code_of,
    registered_target,
    serve,
    target,
)


@pytest.mark.parametrize(
    ("expected_values", "words"),
    [
        (target("absent"), "SageMaker endpoint doesn't exist: endpoint/absent/variant/AllTraffic"),
        (target("there", "Absent"), "SageMaker variant doesn't exist: endpoint/there/variant/Absent"),
        (target("there") | {"ResourceId": "endpoint/there"}, "Unsupported service namespace, resource type"),
    ],
)
def test_a_variant_that_is_not_served_cannot_be_registered(
    scaling: Any, sagemaker: Any, expected_values: dict[str, str], words: str
) -> None:
    if not sagemaker.list_endpoints(NameContains="there")["Endpoints"]:
        serve(sagemaker, "there")
    with pytest.raises(ClientError, match=words) as refusal:
        scaling.register_scalable_target(**expected_values, MinCapacity=1, MaxCapacity=2)
    assert code_of(refusal) == "ValidationException"
    ids = [expected_values["ResourceId"]]
    scalable_targets = scaling.describe_scalable_targets(ServiceNamespace="sagemaker", ResourceIds=ids)
    assert scalable_targets["ScalableTargets"] == []


def test_a_variant_is_never_scaled_to_nothing_except_for_asynchronous_inference(
    scaling: Any, sagemaker: Any
) -> None:
    serve(sagemaker, "busy")
    with pytest.raises(
        ClientError, match="Minimum capacity 0 is less than the minimum allowed, 1"
    ) as refusal:
        scaling.register_scalable_target(**target("busy"), MinCapacity=0, MaxCapacity=2)
    assert code_of(refusal) == "ValidationException"
    serve(sagemaker, "idle", AsyncInferenceConfig={"OutputConfig": {"S3OutputPath": "s3://data/out"}})
    scaling.register_scalable_target(**target("idle"), MinCapacity=0, MaxCapacity=2)
    assert registered_target(scaling, target("idle"))["MinCapacity"] == 0


def test_capacities_are_needed_once_and_may_be_zero_where_the_service_lets_them(scaling: Any) -> None:
    with pytest.raises(ClientError, match="Both MinCapacity and MaxCapacity are needed"):
        scaling.register_scalable_target(**OTHER_TARGET, MaxCapacity=2)
    with pytest.raises(ClientError, match="Maximum capacity cannot be less than minimum capacity"):
        scaling.register_scalable_target(**OTHER_TARGET, MinCapacity=3, MaxCapacity=2)
    scaling.register_scalable_target(**OTHER_TARGET, MinCapacity=1, MaxCapacity=2)
    scaling.register_scalable_target(**OTHER_TARGET, MinCapacity=0)
    values = registered_target(scaling, OTHER_TARGET)
    assert (values["MinCapacity"], values["MaxCapacity"]) == (0, 2)
    scaling.put_scheduled_action(
        **OTHER_TARGET,
        ScheduledActionName="night",
        Schedule="rate(1 day)",
        ScalableTargetAction={"MinCapacity": 0, "MaxCapacity": 0},
    )
    assert actions(scaling, OTHER_TARGET)["night"]["ScalableTargetAction"] == {
        "MinCapacity": 0,
        "MaxCapacity": 0,
    }
    scaling.deregister_scalable_target(**OTHER_TARGET)


def test_a_target_shows_its_role_and_all_three_suspensions(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "suspended")
    scaling.register_scalable_target(**target("suspended"), MinCapacity=1, MaxCapacity=2)
    states = [registered_target(scaling, target("suspended"))["SuspendedState"]]
    scaling.register_scalable_target(
        **target("suspended"), SuspendedState={"DynamicScalingInSuspended": True}
    )
    scaling.register_scalable_target(
        **target("suspended"), SuspendedState={"ScheduledScalingSuspended": True}
    )
    states.append(registered_target(scaling, target("suspended"))["SuspendedState"])
    names = ("DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended")
    assert [[state[name] for name in names] for state in states] == [[False] * 3, [True, False, True]]
    values = registered_target(scaling, target("suspended"))
    assert (values["MinCapacity"], values["MaxCapacity"]) == (1, 2)
    assert values["RoleARN"].endswith("/AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint")


def test_a_target_takes_its_policies_and_scheduled_actions_with_it_and_leaves_others(
    scaling: Any, sagemaker: Any
) -> None:
    serve(sagemaker, "leaving", variants=("v", "v2"))
    for variant in ("v", "v2"):
        expected_target = target("leaving", variant)
        scaling.register_scalable_target(**expected_target, MinCapacity=1, MaxCapacity=2)
        scaling.put_scaling_policy(
            **expected_target,
            PolicyName="requests",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration=TRACKING_POLICY,
        )
        scaling.put_scheduled_action(
            **expected_target,
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
    assert policy["TargetTrackingScalingPolicyConfiguration"] == TRACKING_POLICY
    assert set(actions(scaling, target("leaving", "v2"))) == {"day"}
    scaling.register_scalable_target(**target("leaving", "v"), MinCapacity=1, MaxCapacity=2)
    assert scaling.describe_scaling_policies(**target("leaving", "v"))["ScalingPolicies"] == []


def test_what_is_not_there_is_not_found(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "bare")
    text = "service namespace: sagemaker, resource ID: endpoint/bare/variant/AllTraffic, scalable dimension: "
    tracking_values = {
        "PolicyType": "TargetTrackingScaling",
        "TargetTrackingScalingPolicyConfiguration": TRACKING_POLICY,
    }
    put = {"Schedule": "rate(1 day)", "ScalableTargetAction": {"MinCapacity": 1}}
    policy, action = {"PolicyName": "p"}, {"ScheduledActionName": "a"}
    calls: list[tuple[Any, dict[str, Any], str]] = [
        (scaling.deregister_scalable_target, {}, "No scalable target found for"),
        (scaling.put_scaling_policy, policy | tracking_values, "No scalable target registered for"),
        (scaling.put_scheduled_action, action | put, "No scalable target registered for"),
        (scaling.delete_scaling_policy, policy, "No scaling policy found for"),
        (scaling.delete_scheduled_action, action, "No scheduled action found for"),
    ]
    for call, inputs, words in calls:
        with pytest.raises(ClientError, match=f"{words} {text}") as refusal:
            call(**target("bare"), **inputs)
        assert code_of(refusal) == "ObjectNotFoundException"


def test_an_endpoint_that_is_deleted_is_deregistered_and_no_other(scaling: Any, sagemaker: Any) -> None:
    for name in ("ending", "ending-not"):
        serve(sagemaker, name)
        scaling.register_scalable_target(**target(name), MinCapacity=1, MaxCapacity=2)
    sagemaker.delete_endpoint(EndpointName="ending")
    scalable_targets = scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    ids = {scalable_target["ResourceId"] for scalable_target in scalable_targets}
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
            TargetTrackingScalingPolicyConfiguration={**TRACKING_POLICY, "TargetValue": value},
        )["PolicyARN"]
        for value in (70.0, 50.0)
    ]
    [policy] = scaling.describe_scaling_policies(**target("tracked"))["ScalingPolicies"]
    assert arns == [policy["PolicyARN"]] * 2
    assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 50.0


def test_nothing_has_scaled_by_itself(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "still")
    scaling.register_scalable_target(**target("still"), MinCapacity=1, MaxCapacity=2)
    target_values = {"ServiceNamespace": "sagemaker", "ResourceId": target("still")["ResourceId"]}
    assert scaling.describe_scaling_activities(**target_values)["ScalingActivities"] == []
