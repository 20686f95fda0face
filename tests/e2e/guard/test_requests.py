"""The scaling guard on each request: what it does and says, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from scaling_guard.errors import GuardError
from tests.support.guarded_endpoint import BUCKET, NEW, OLD, OTHER_CONFIG, GuardedEndpoint, StackIds


def endpoint_answer(endpoint: GuardedEndpoint, request: str, **changed_values: Any) -> dict[str, Any]:
    event = dict(endpoint.event("before", OLD, RequestType=request, **changed_values))
    if request == "Create":
        del event["PhysicalResourceId"], event["OldResourceProperties"]
    return endpoint.answer(event)


# --- an update that arrives


def test_without_the_guard_sagemaker_refuses_the_new_instance_type(scaled_endpoint: GuardedEndpoint) -> None:
    with pytest.raises(ClientError, match="must be deregistered as scalable target"):
        scaled_endpoint.move(NEW)


def test_scaling_steps_aside_for_the_new_instance_type_and_comes_back_whole(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    as_it_was = scaled_endpoint.registered_target()
    assert "its scaling is deregistered, and saved in s3://artifacts/" in scaled_endpoint.guard("before", NEW)
    assert not scaled_endpoint.is_registered()
    scaled_endpoint.move(NEW)
    assert scaled_endpoint.guard("after", NEW) == (
        f"The scaling of variant AllTraffic of endpoint {scaled_endpoint.name} is as it was: 2 to 7 instances, "
        "policies Load, Gpu, scheduled actions night, launch."
    )
    assert scaled_endpoint.registered_target() == as_it_was
    assert not scaled_endpoint.is_saved()


def test_no_role_is_given_as_scaling_has_a_service_linked_one(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", NEW)
    assert set(scaled_endpoint.saved_state()["target"]) == {
        "ServiceNamespace",
        "ResourceId",
        "ScalableDimension",
        "MinCapacity",
        "MaxCapacity",
        "SuspendedState",
        "Tags",
    }


def test_a_policy_is_saved_as_it_was_put(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", NEW)
    assert scaled_endpoint.saved_state()["policies"]["Gpu"] == {
        **scaled_endpoint.target,
        "PolicyName": "Gpu",
        "PolicyType": "TargetTrackingScaling",
        "TargetTrackingScalingPolicyConfiguration": {
            "TargetValue": 60.0,
            "CustomizedMetricSpecification": {
                "Namespace": "Tests",
                "MetricName": "Gpu",
                "Statistic": "Average",
            },
            "ScaleInCooldown": 0,
        },
    }


def test_more_scaling_than_fits_a_page_comes_back_whole(scaled_endpoint: GuardedEndpoint) -> None:
    for number in range(55):
        scaled_endpoint.put_policy(f"one-more-policy-{number}", 100 + number)
        scaled_endpoint.put_action(f"one-more-action-{number}", "rate(1 day)")
    scaled_endpoint.guard("before", NEW)
    assert (
        len(scaled_endpoint.saved_state()["policies"]),
        len(scaled_endpoint.saved_state()["actions"]),
    ) == (57, 57)
    scaled_endpoint.move(NEW)
    assert (
        len(scaled_endpoint.guard("after", NEW)) == 1500
    )  # cut: CloudFormation takes 4,096 bytes of an answer
    client, name = (
        scaled_endpoint.scaling,
        {"ResourceId": scaled_endpoint.target["ResourceId"], "ServiceNamespace": "sagemaker"},
    )
    pages = client.get_paginator("describe_scaling_policies").paginate(**name)
    assert sum(len(page["ScalingPolicies"]) for page in pages) == 57
    pages = client.get_paginator("describe_scheduled_actions").paginate(**name)
    assert sum(len(page["ScheduledActions"]) for page in pages) == 57


def test_an_endpoint_without_scaling_is_left_alone(bare: GuardedEndpoint) -> None:
    assert (
        bare.guard("before", NEW)
        == f"Nothing to do: variant AllTraffic of endpoint {bare.name} has no scaling."
    )
    bare.move(NEW)
    assert bare.guard("after", NEW).startswith("Nothing to do: ")
    assert (bare.is_registered(), bare.is_saved()) == (False, False)


def test_a_scaling_of_the_wanted_type_is_left_alone(scaled_endpoint: GuardedEndpoint) -> None:
    as_it_was = scaled_endpoint.registered_target()
    for step in ("before", "after"):
        assert scaled_endpoint.guard(step, OLD).startswith("Nothing to do: ")
    assert (scaled_endpoint.registered_target(), scaled_endpoint.is_saved()) == (as_it_was, False)


def test_an_update_that_sagemaker_rolled_back_without_a_word_fails(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", NEW)
    with pytest.raises(GuardError) as failure:
        scaled_endpoint.guard("after", NEW)
    for words in (
        f"variant AllTraffic of endpoint {scaled_endpoint.name} runs on {OLD}, in configuration {scaled_endpoint.config(OLD)}, not on {NEW}",
        "SageMaker did not keep the update",
        f"aws sagemaker describe-endpoint --region us-east-1 --endpoint-name {scaled_endpoint.name}",
    ):
        assert words in str(failure.value)


def test_a_scaling_that_is_registered_after_an_update_that_was_rolled_back_is_put_aside_for_the_rollback(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    with pytest.raises(GuardError, match="SageMaker did not keep the update"):
        scaled_endpoint.guard("after", NEW)
    assert (scaled_endpoint.is_registered(), scaled_endpoint.is_saved()) == (False, True)


# --- creation and deletion


def test_creation_forgets_what_an_earlier_endpoint_of_the_name_left(moved_endpoint: GuardedEndpoint) -> None:
    endpoint_answer(moved_endpoint, "Create")
    assert (moved_endpoint.is_registered(), moved_endpoint.is_saved()) == (False, False)


def test_creation_leaves_a_registered_scaling_alone(scaled_endpoint: GuardedEndpoint) -> None:
    as_it_was = scaled_endpoint.registered_target()
    endpoint_answer(scaled_endpoint, "Create")
    assert scaled_endpoint.registered_target() == as_it_was


def test_a_resource_has_another_physical_id_with_another_configuration_or_other_policies(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    resource_ids = [endpoint_answer(scaled_endpoint, "Create")["PhysicalResourceId"] for _ in range(2)]
    other_resource_id = endpoint_answer(scaled_endpoint, "Create", LogicalResourceId="Other")[
        "PhysicalResourceId"
    ]
    assert resource_ids[0] == resource_ids[1] != other_resource_id
    assert endpoint_answer(scaled_endpoint, "Update")["PhysicalResourceId"] == resource_ids[0]
    moved_resource_id = scaled_endpoint.answer(scaled_endpoint.event("before", NEW))["PhysicalResourceId"]
    scaled_endpoint.own = {OLD: ["Own"]}
    resource_id = endpoint_answer(scaled_endpoint, "Update")["PhysicalResourceId"]
    assert len({resource_ids[0], other_resource_id, moved_resource_id, resource_id}) == 4
    assert (
        endpoint_answer(scaled_endpoint, "Delete", PhysicalResourceId="known")["PhysicalResourceId"]
        == "known"
    )


def test_deletion_does_nothing(moved_endpoint: GuardedEndpoint) -> None:
    assert moved_endpoint.guard("after", NEW, RequestType="Delete").startswith("Nothing to do")
    assert (moved_endpoint.is_registered(), moved_endpoint.is_saved()) == (False, True)


def test_deletion_fails_in_no_case(moved_endpoint: GuardedEndpoint, stack_ids: StackIds) -> None:
    for operation in ("DescribeStacks", "RegisterScalableTarget"):
        moved_endpoint.stack_id = stack_ids.rolling_back
        clients = moved_endpoint.account.clients_that_refuse(operation, "AccessDeniedException")
        moved_endpoint.answer_too_late(moved_endpoint.event("after", NEW, RequestType="Delete"), clients)
        assert moved_endpoint.is_saved()


def test_what_is_left_over_when_a_rollback_is_over_comes_back(
    moved_endpoint: GuardedEndpoint, stack_ids: StackIds
) -> None:
    moved_endpoint.stack_id = stack_ids.rolling_back
    moved_endpoint.guard("before", OLD)
    moved_endpoint.move(OLD)
    assert moved_endpoint.guard("before", NEW, RequestType="Delete").startswith("The scaling of ")
    assert sorted(moved_endpoint.names()) == ["Gpu", "Load", "launch", "night"]
    assert moved_endpoint.guard("before", NEW, RequestType="Delete").startswith("Nothing to do")


def test_an_endpoint_that_is_gone_has_no_scaling(moved_endpoint: GuardedEndpoint) -> None:
    moved_endpoint.sagemaker.delete_endpoint(EndpointName=moved_endpoint.name)
    for step in ("before", "after"):
        assert (
            moved_endpoint.guard(step, OLD)
            == f"Endpoint {moved_endpoint.name} does not exist, so it has no scaling."
        )
    assert not moved_endpoint.is_saved()


# --- what others do in the meantime


def test_what_was_registered_by_hand_meanwhile_stays_and_is_completed(
    moved_endpoint: GuardedEndpoint,
) -> None:
    moved_endpoint.scaling.register_scalable_target(**moved_endpoint.target, MinCapacity=3, MaxCapacity=9)
    moved_endpoint.put_policy("Gpu", 33)
    moved_endpoint.put_policy("mine", 11)
    moved_endpoint.put_action("night", "rate(2 days)")
    by_hand = moved_endpoint.registered_target()
    moved_endpoint.guard("after", NEW)
    values = moved_endpoint.registered_target()
    assert values["ScalableTargets"] == by_hand["ScalableTargets"]
    for kind in ("ScalingPolicies", "ScheduledActions"):
        assert all(item in values[kind] for item in by_hand[kind])
    assert sorted(moved_endpoint.names()) == ["Gpu", "Load", "launch", "mine", "night"]


def test_what_was_registered_by_hand_is_put_aside_with_what_it_lacks(moved_endpoint: GuardedEndpoint) -> None:
    moved_endpoint.scaling.register_scalable_target(**moved_endpoint.target, MinCapacity=3, MaxCapacity=9)
    moved_endpoint.put_policy("Gpu", 33)
    moved_endpoint.guard("before", OLD)
    assert not moved_endpoint.is_registered()
    values = moved_endpoint.saved_state()
    assert (values["target"]["MinCapacity"], values["target"]["MaxCapacity"]) == (3, 9)
    assert values["policies"]["Gpu"]["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 33
    assert [*values["policies"], *values["actions"]] == ["Load", "Gpu", "night", "launch"]


def test_a_target_that_is_gone_when_it_is_deregistered_is_no_failure(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    clients = scaled_endpoint.account.clients_that_refuse(
        "DeregisterScalableTarget", "ObjectNotFoundException"
    )
    assert "is deregistered" in scaled_endpoint.guard("before", NEW, clients)


# --- what the endpoint says


def test_a_variant_that_is_not_there_counts_as_one_of_another_type(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.guard("before", NEW)
    scaled_endpoint.s3.copy_object(
        Bucket=BUCKET,
        CopySource=f"{BUCKET}/scaling-guard/{scaled_endpoint.name}/AllTraffic.json",
        Key=f"scaling-guard/{scaled_endpoint.name}/Other.json",
    )
    scaled_endpoint.variant = "Other"
    assert "runs on an unknown instance type, in configuration" in scaled_endpoint.guard(
        "before", OTHER_CONFIG
    )
    assert (scaled_endpoint.is_registered(), scaled_endpoint.is_saved()) == (False, True)


def test_a_configuration_that_was_deleted_counts_as_another_type(scaled_endpoint: GuardedEndpoint) -> None:
    clients = scaled_endpoint.account.clients_that_refuse(
        "DescribeEndpointConfig", "ValidationException", message="Could not find endpoint configuration"
    )
    assert "an unknown instance type" in scaled_endpoint.guard("before", OTHER_CONFIG, clients)
    assert (scaled_endpoint.is_registered(), scaled_endpoint.is_saved()) == (False, True)


def test_while_an_update_is_in_progress_nothing_is_registered(moved_endpoint: GuardedEndpoint) -> None:
    """A target that is registered now would stand in the way of the update back."""

    def after(operation: str, parsed: dict[str, Any]) -> None:
        if operation == "DescribeEndpoint":
            parsed["EndpointStatus"] = "Updating"
            parsed["PendingDeploymentSummary"] = {"EndpointConfigName": moved_endpoint.config(OLD)}

    with pytest.raises(GuardError, match=f"endpoint {moved_endpoint.name} is Updating"):
        moved_endpoint.answer_too_late(
            moved_endpoint.event("before", NEW), moved_endpoint.account.clients(after=after)
        )
    assert (moved_endpoint.is_registered(), moved_endpoint.is_saved()) == (False, True)
