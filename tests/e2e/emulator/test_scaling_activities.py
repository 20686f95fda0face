"""Endpoints that scale: what SageMaker refuses meanwhile, who begins it, and what CloudFormation makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.scaling import TRACKING_POLICY, serve, target
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.embedded_app.updates import variants_of
from tests.support.endpoint_capacity import await_service


@pytest.fixture(autouse=True)
def slow(host: RecordingHost) -> RecordingHost:
    """Instances start when the test lets them."""
    host.may_scale.clear()
    return host


def counts(sagemaker: Any, name: str) -> tuple[str, int, int]:
    """Status, current and desired instances."""
    variant = variants_of(sagemaker, name)["AllTraffic"]
    status = sagemaker.describe_endpoint(EndpointName=name)["EndpointStatus"]
    return status, variant["CurrentInstanceCount"], variant["DesiredInstanceCount"]


def settle(sagemaker: Any, host: RecordingHost, name: str) -> None:
    host.may_scale.set()
    await_service(sagemaker, name)


def set_instances(sagemaker: Any, name: str, count: int) -> None:
    expected_values = [{"VariantName": "AllTraffic", "DesiredInstanceCount": count}]
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName=name, DesiredWeightsAndCapacities=expected_values
    )


def activities(scaling: Any, name: str) -> list[tuple[str, str, str]]:
    """Status, description and cause of each, the newest first."""
    scaling_activities = scaling.describe_scaling_activities(**target(name))["ScalingActivities"]
    return [
        (scaling_activity["StatusCode"], scaling_activity["Description"], scaling_activity["Cause"])
        for scaling_activity in scaling_activities
    ]


def register_scaling(sagemaker: Any, scaling: Any, name: str, **is_suspended: bool) -> None:
    """Serve an endpoint with a scaling policy."""
    serve(sagemaker, name)
    scaling.register_scalable_target(
        **target(name), MinCapacity=1, MaxCapacity=4, SuspendedState={**is_suspended}
    )
    scaling.put_scaling_policy(
        **target(name),
        PolicyName="load",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration=TRACKING_POLICY,
    )


def test_an_endpoint_is_updating_until_its_new_instances_serve(sagemaker: Any, slow: RecordingHost) -> None:
    serve(sagemaker, "by-hand")
    set_instances(sagemaker, "by-hand", 3)
    assert counts(sagemaker, "by-hand") == ("Updating", 1, 3)
    assert "PendingDeploymentSummary" not in sagemaker.describe_endpoint(EndpointName="by-hand")
    settle(sagemaker, slow, "by-hand")
    assert counts(sagemaker, "by-hand") == ("InService", 3, 3)


def test_what_changes_an_endpoint_in_progress_is_refused_in_sagemakers_words(
    sagemaker: Any, slow: RecordingHost
) -> None:
    serve(sagemaker, "busy")
    variants = sagemaker.describe_endpoint_config(EndpointConfigName="busy")["ProductionVariants"]
    sagemaker.create_endpoint_config(EndpointConfigName="busy-next", ProductionVariants=variants)
    set_instances(sagemaker, "busy", 2)
    arn = sagemaker.describe_endpoint(EndpointName="busy")["EndpointArn"]
    for change in (
        lambda: sagemaker.update_endpoint(EndpointName="busy", EndpointConfigName="busy-next"),
        lambda: sagemaker.delete_endpoint(EndpointName="busy"),
        lambda: set_instances(sagemaker, "busy", 4),
    ):
        with pytest.raises(ClientError) as refusal:
            change()
        error = refusal.value.response["Error"]
        assert error["Code"] == "ValidationException"
        assert error["Message"] == f'Cannot update in-progress endpoint "{arn}".'
    settle(sagemaker, slow, "busy")
    sagemaker.delete_endpoint(EndpointName="busy")


def test_an_alarm_begins_an_activity_that_ends_with_its_instances(
    aws: EmbeddedAws, sagemaker: Any, scaling: Any, slow: RecordingHost
) -> None:
    register_scaling(sagemaker, scaling, "loaded")
    aws.scale("loaded", 9, region="us-east-1")
    assert counts(sagemaker, "loaded") == ("Updating", 1, 4)
    [(status, description, cause)] = activities(scaling, "loaded")
    assert (status, description) == ("InProgress", "Setting desired instance count to 4.")
    assert cause.endswith("in state ALARM triggered policy load")
    settle(sagemaker, slow, "loaded")
    [(status, *_)] = activities(scaling, "loaded")
    assert (status, counts(sagemaker, "loaded")) == ("Successful", ("InService", 4, 4))


def test_a_suspended_target_begins_no_activity_and_finishes_the_one_in_progress(
    aws: EmbeddedAws, sagemaker: Any, scaling: Any, slow: RecordingHost
) -> None:
    register_scaling(sagemaker, scaling, "suspended")
    aws.scale("suspended", 2, region="us-east-1")
    scaling.register_scalable_target(
        **target("suspended"),
        SuspendedState={"DynamicScalingOutSuspended": True, "DynamicScalingInSuspended": True},
    )
    settle(sagemaker, slow, "suspended")
    assert counts(sagemaker, "suspended") == ("InService", 2, 2)
    for count in (4, 1):
        aws.scale("suspended", count, region="us-east-1")
    assert counts(sagemaker, "suspended") == ("InService", 2, 2)
    assert len(activities(scaling, "suspended")) == 1


def test_an_activity_that_meets_an_update_fails(
    aws: EmbeddedAws, sagemaker: Any, scaling: Any, slow: RecordingHost
) -> None:
    register_scaling(sagemaker, scaling, "met")
    set_instances(sagemaker, "met", 2)
    aws.scale("met", 4, region="us-east-1")
    scaling_activities = scaling.describe_scaling_activities(**target("met"))["ScalingActivities"]
    assert [scaling_activity["StatusCode"] for scaling_activity in scaling_activities] == ["Failed"]
    reason = "Failed to set desired instance count to 4. Reason: Cannot update in-progress endpoint"
    assert scaling_activities[0]["StatusMessage"].startswith(reason)
    settle(sagemaker, slow, "met")


def test_a_capacity_beyond_the_bounds_is_moved_into_them_when_a_target_is_registered(
    sagemaker: Any, scaling: Any, slow: RecordingHost
) -> None:
    serve(sagemaker, "small")
    scaling.register_scalable_target(**target("small"), MinCapacity=3, MaxCapacity=4)
    assert counts(sagemaker, "small") == ("Updating", 1, 3)
    scaling.register_scalable_target(**target("small"), MinCapacity=1, MaxCapacity=2)
    settle(sagemaker, slow, "small")
    slow.may_scale.clear()
    assert counts(sagemaker, "small") == ("InService", 3, 3)
    scaling.register_scalable_target(**target("small"), SuspendedState={"ScheduledScalingSuspended": True})
    settle(sagemaker, slow, "small")
    assert counts(sagemaker, "small") == ("InService", 2, 2)
    causes = [cause for _, _, cause in activities(scaling, "small")]
    assert causes == ["maximum capacity was set to 2", "minimum capacity was set to 3"]


def test_cloudformation_repeats_no_refused_update_and_its_rollback_is_refused_too(
    stacks: Stacks, sagemaker: Any, slow: RecordingHost
) -> None:
    stacks.create("meets", endpoint("meets"))
    set_instances(sagemaker, "meets", 2)
    assert stacks.update("meets", endpoint("meets", image="new")) == "UPDATE_ROLLBACK_FAILED"
    reasons = [reason for text, _, reason in stacks.events("meets") if text == "Endpoint" and reason]
    assert len(reasons) == 2
    assert all(reason.startswith("Cannot update in-progress endpoint") for reason in reasons)
    settle(sagemaker, slow, "meets")


def test_a_stack_whose_endpoint_scales_is_not_deleted(
    stacks: Stacks, sagemaker: Any, slow: RecordingHost
) -> None:
    stacks.create("stays", endpoint("stays"))
    set_instances(sagemaker, "stays", 2)
    stacks.api.delete_stack(StackName="stays")
    assert stacks.final_status("stays") == "DELETE_FAILED"
    settle(sagemaker, slow, "stays")
