"""The scaling of a variant that is registered with Application Auto Scaling."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .retry import is_error, retry
from .scaling import Arguments, Scaling
from .variant import Variant

DIMENSION = {"ServiceNamespace": "sagemaker", "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
_DESCRIBE = {
    "ScalableTargets": "describe_scalable_targets",
    "ScalingPolicies": "describe_scaling_policies",
    "ScheduledActions": "describe_scheduled_actions",
}
_IN_PROGRESS = ("Pending", "InProgress")
"""Source: Application Auto Scaling API reference, ScalingActivity, StatusCode."""
_MAX_ACTIVITIES = 10
"""The newest are enough: a variant has one in progress at a time."""


def read_scaling(autoscaling: Any, variant: Variant) -> Scaling | None:
    """The variant's scaling as it is now, or None."""
    name = resource_id(variant)
    targets = _describe_pages(autoscaling, "ScalableTargets", ResourceIds=[name])
    if not targets:
        return None
    policies = _describe_pages(autoscaling, "ScalingPolicies", ResourceId=name)
    actions = _describe_pages(autoscaling, "ScheduledActions", ResourceId=name)
    # The role is service-linked: Application Auto Scaling finds it itself.
    target = _call_arguments(autoscaling, "RegisterScalableTarget", targets[0], exclusion="RoleARN")
    tags = _tags(autoscaling, targets[0])
    return Scaling(
        target={**target, **({"Tags": tags} if tags else {})},
        policies={
            entry["PolicyName"]: _call_arguments(autoscaling, "PutScalingPolicy", entry) for entry in policies
        },
        actions={
            entry["ScheduledActionName"]: _call_arguments(autoscaling, "PutScheduledAction", entry)
            for entry in actions
        },
    )


def register(autoscaling: Any, variant: Variant, target: Arguments) -> None:
    """Register a variant that is not registered; only such a call may have tags."""
    retry(autoscaling.register_scalable_target, **target)
    print(f"Registered {resource_id(variant)}")


def suspend(autoscaling: Any, variant: Variant, state: Arguments) -> None:
    """Give a registered variant this SuspendedState; an activity in progress is not affected by it."""
    retry(
        autoscaling.register_scalable_target,
        ResourceId=resource_id(variant),
        **DIMENSION,
        SuspendedState=state,
    )
    print(f"Set SuspendedState of {resource_id(variant)}: {state}")


def deregister(autoscaling: Any, variant: Variant) -> None:
    """Deregister the variant, with which its policies and scheduled actions go."""
    _delete(autoscaling.deregister_scalable_target, variant)
    print(f"Deregistered {resource_id(variant)}")


def delete_policy(autoscaling: Any, variant: Variant, name: str) -> None:
    """Delete one of the variant's policies."""
    _delete(autoscaling.delete_scaling_policy, variant, PolicyName=name)
    print(f"Deleted policy {name} of {resource_id(variant)}")


def activity_in_progress(autoscaling: Any, variant: Variant) -> str:
    """The description of the variant's scaling activity that is in progress; empty without one."""
    answer = autoscaling.describe_scaling_activities(
        ResourceId=resource_id(variant), **DIMENSION, MaxResults=_MAX_ACTIVITIES
    )
    for activity in answer["ScalingActivities"]:
        if activity["StatusCode"] in _IN_PROGRESS:
            return str(activity.get("Description") or activity["ActivityId"])
    return ""


def resource_id(variant: Variant) -> str:
    """The variant's name in Application Auto Scaling."""
    return f"endpoint/{variant.endpoint}/variant/{variant.name}"


def _delete(call: Any, variant: Variant, **name: str) -> None:
    try:
        retry(call, ResourceId=resource_id(variant), **DIMENSION, **name)
    except ClientError as error:
        # An answer was lost, and the call that boto3 repeated finds nothing.
        if not is_error(error, "ObjectNotFoundException"):
            raise


def _describe_pages(autoscaling: Any, kind: str, **filters: Any) -> list[Arguments]:
    """Everything of a kind, from all pages."""
    pages = autoscaling.get_paginator(_DESCRIBE[kind]).paginate(**DIMENSION, **filters)
    return [entry for page in pages for entry in page[kind]]


def _tags(autoscaling: Any, target: Arguments) -> dict[str, str]:
    """The target's tags that a call may give; a target from before there were tags has no ARN.

    AWS refuses keys that begin with `aws:`, such as those that CloudFormation puts (source: Application Auto
    Scaling user guide, tag restrictions).
    """
    arn = target.get("ScalableTargetARN")
    tags = autoscaling.list_tags_for_resource(ResourceARN=arn)["Tags"] if arn else {}
    return {key: value for key, value in tags.items() if not key.lower().startswith("aws:")}


def _call_arguments(
    autoscaling: Any, operation: str, description: Arguments, *, exclusion: str = ""
) -> Arguments:
    """The description without its read-only members: those that its call does not accept."""
    members = autoscaling.meta.service_model.operation_model(operation).input_shape.members
    return {name: value for name, value in description.items() if name in members and name != exclusion}
