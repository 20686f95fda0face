"""Scaling policies as CloudFormation knows them, by their ARNs, and the tags of scalable targets."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_app.scaling import TRACKING_POLICY, code_of, serve, target
from tests.support.embedded_app.stacks import Stacks, endpoint

WORDS_OF_METRIC = "Only one TargetTrackingScaling policy for a given metric specification is allowed."
WORDS_OF_TAGS = (
    "The scalable target that you tried to tag already exists. To update tags on an existing scalable target, "
    "use the TagResource API."
)


def metric(name: str, value: float = 70.0) -> dict[str, Any]:
    return {
        "TargetValue": value,
        "CustomizedMetricSpecification": {"Namespace": "N", "MetricName": name, "Statistic": "Average"},
    }


def put(
    scaling: Any, endpoint_name: str, policy: str, configuration: dict[str, Any] = TRACKING_POLICY
) -> str:
    answer = scaling.put_scaling_policy(
        **target(endpoint_name),
        PolicyName=policy,
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration=configuration,
    )
    return str(answer["PolicyARN"])


def arns(scaling: Any, endpoint_name: str) -> dict[str, str]:
    policies = scaling.describe_scaling_policies(**target(endpoint_name))["ScalingPolicies"]
    return {item["PolicyName"]: item["PolicyARN"] for item in policies}


def scaled_endpoint(
    name: str, *policies: str, value: float = 70.0, tags: dict[str, str] | None = None
) -> dict[str, Any]:
    """An endpoint's resources with a target, and policies of metrics whose names are theirs until a hyphen."""
    declared_values = [{"Key": key, "Value": text} for key, text in (tags or {}).items()]
    result: dict[str, Any] = {
        **endpoint(name),
        "Target": {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "DependsOn": "Endpoint",
            "Properties": {**target(name), "MinCapacity": 1, "MaxCapacity": 4, "Tags": declared_values},
        },
    }
    for number, policy in enumerate(policies):
        result[f"Policy{number}"] = {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": {
                "PolicyName": policy,
                "PolicyType": "TargetTrackingScaling",
                "ScalingTargetId": {"Ref": "Target"},
                "TargetTrackingScalingPolicyConfiguration": metric(policy.partition("-")[0], value),
            },
        }
    return result


def reasons(stacks: Stacks, name: str) -> str:
    return " ".join(reason for _, status, reason in stacks.events(name) if status.endswith("FAILED"))


# --- policies


def test_a_policy_that_is_put_anew_has_another_arn(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "anew")
    scaling.register_scalable_target(**target("anew"), MinCapacity=1, MaxCapacity=2)
    first = put(scaling, "anew", "requests")
    scaling.delete_scaling_policy(**target("anew"), PolicyName="requests")
    assert put(scaling, "anew", "requests") != first


def test_a_target_has_one_policy_for_a_metric(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "tracked-once")
    scaling.register_scalable_target(**target("tracked-once"), MinCapacity=1, MaxCapacity=2)
    put(scaling, "tracked-once", "requests")
    with pytest.raises(ClientError, match=WORDS_OF_METRIC) as refusal:
        put(scaling, "tracked-once", "more-requests", {**TRACKING_POLICY, "TargetValue": 5.0})
    assert code_of(refusal) == "ValidationException"
    put(scaling, "tracked-once", "requests", {**TRACKING_POLICY, "TargetValue": 5.0})
    put(scaling, "tracked-once", "gpu", metric("Gpu"))
    assert set(arns(scaling, "tracked-once")) == {"requests", "gpu"}


def test_the_physical_id_of_a_policy_is_its_arn_and_an_update_keeps_it(stacks: Stacks, scaling: Any) -> None:
    stacks.create("known", scaled_endpoint("known", "A"))
    before = stacks.physical_ids("known")["Policy0"]
    assert before == arns(scaling, "known")["A"]
    assert stacks.update("known", scaled_endpoint("known", "A", value=50.0)) == "UPDATE_COMPLETE"
    assert stacks.physical_ids("known")["Policy0"] == before == arns(scaling, "known")["A"]


def test_a_policy_that_was_put_again_by_others_is_not_cloudformations_own(
    stacks: Stacks, scaling: Any
) -> None:
    stacks.create("orphan", scaled_endpoint("orphan", "A"))
    scaling.delete_scaling_policy(**target("orphan"), PolicyName="A")
    orphan = put(scaling, "orphan", "A", metric("A"))
    assert stacks.update("orphan", scaled_endpoint("orphan", "A", value=50.0)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "HandlerErrorCode: NotFound" in reasons(stacks, "orphan")
    assert stacks.update("orphan", scaled_endpoint("orphan")) == "UPDATE_COMPLETE"
    assert arns(scaling, "orphan") == {"A": orphan}  # it goes on scaling
    assert stacks.update("orphan", scaled_endpoint("orphan", "A")) == "UPDATE_ROLLBACK_COMPLETE"
    text = (
        'Resource handler returned message: "Scaling Policy Already Exists" (HandlerErrorCode: AlreadyExists)'
    )
    assert text in reasons(stacks, "orphan")


def test_a_policy_under_another_name_meets_the_one_that_it_replaces(stacks: Stacks, scaling: Any) -> None:
    stacks.create("renamed", scaled_endpoint("renamed", "A"))
    before = arns(scaling, "renamed")
    assert stacks.update("renamed", scaled_endpoint("renamed", "A-2")) == "UPDATE_ROLLBACK_COMPLETE"
    assert WORDS_OF_METRIC in reasons(stacks, "renamed")
    assert arns(scaling, "renamed") == before
    scaling.delete_scaling_policy(**target("renamed"), PolicyName="A")
    assert stacks.update("renamed", scaled_endpoint("renamed", "A-2")) == "UPDATE_COMPLETE"
    assert set(arns(scaling, "renamed")) == {"A-2"}


# --- tags


def test_only_a_new_target_is_registered_with_tags(scaling: Any, sagemaker: Any) -> None:
    serve(sagemaker, "tagged")
    expected_values = {**target("tagged"), "MinCapacity": 1, "MaxCapacity": 2}
    arn = scaling.register_scalable_target(**expected_values, Tags={"team": "search"})["ScalableTargetARN"]
    scaling.register_scalable_target(**expected_values)
    with pytest.raises(ClientError, match=WORDS_OF_TAGS) as refusal:
        scaling.register_scalable_target(**expected_values, Tags={"team": "search"})
    assert code_of(refusal) == "ValidationException"
    scaling.tag_resource(ResourceARN=arn, Tags={"stage": "dev"})
    scaling.untag_resource(ResourceARN=arn, TagKeys=["team"])
    assert scaling.list_tags_for_resource(ResourceARN=arn)["Tags"] == {"stage": "dev"}
    scaling.deregister_scalable_target(**target("tagged"))
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        scaling.list_tags_for_resource(ResourceARN=arn)


def test_a_stack_with_tags_cannot_take_a_target_over_and_changes_its_own(
    stacks: Stacks, scaling: Any
) -> None:
    stacks.create("by-hand", endpoint("by-hand"))
    scaling.register_scalable_target(**target("by-hand"), MinCapacity=1, MaxCapacity=2)
    values = scaled_endpoint("by-hand", tags={"team": "search"})
    assert stacks.update("by-hand", values) == "UPDATE_ROLLBACK_COMPLETE"
    assert WORDS_OF_TAGS in reasons(stacks, "by-hand")
    scaling.deregister_scalable_target(**target("by-hand"))
    assert stacks.update("by-hand", values) == "UPDATE_COMPLETE"
    assert stacks.update("by-hand", scaled_endpoint("by-hand", tags={"stage": "dev"})) == "UPDATE_COMPLETE"
    [result] = scaling.describe_scalable_targets(
        ServiceNamespace="sagemaker", ResourceIds=[target("by-hand")["ResourceId"]]
    )["ScalableTargets"]
    tags = scaling.list_tags_for_resource(ResourceARN=result["ScalableTargetARN"])["Tags"]
    assert tags == {"stage": "dev"}
