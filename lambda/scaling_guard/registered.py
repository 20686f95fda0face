"""The scaling of a variant that is registered with Application Auto Scaling."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .retried import is_error, retried
from .scaling import Arguments, Scaling
from .variant import Variant

DIMENSION = {"ServiceNamespace": "sagemaker", "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
_DESCRIBE = {
    "ScalableTargets": "describe_scalable_targets",
    "ScalingPolicies": "describe_scaling_policies",
    "ScheduledActions": "describe_scheduled_actions",
}


def registered(autoscaling: Any, variant: Variant) -> Scaling | None:
    """The variant's scaling as it is now, or None."""
    name = resource_id(variant)
    targets = _described(autoscaling, "ScalableTargets", ResourceIds=[name])
    if not targets:
        return None
    policies = _described(autoscaling, "ScalingPolicies", ResourceId=name)
    actions = _described(autoscaling, "ScheduledActions", ResourceId=name)
    # The role is service-linked: Application Auto Scaling finds it without being told.
    target = _taken_by(autoscaling, "RegisterScalableTarget", targets[0], without="RoleARN")
    return Scaling(
        target=target,
        policies={each["PolicyName"]: _taken_by(autoscaling, "PutScalingPolicy", each) for each in policies},
        actions={
            each["ScheduledActionName"]: _taken_by(autoscaling, "PutScheduledAction", each)
            for each in actions
        },
    )


def deregister(autoscaling: Any, variant: Variant) -> None:
    """Deregister the variant, with which its policies and scheduled actions go."""
    try:
        retried(autoscaling.deregister_scalable_target, ResourceId=resource_id(variant), **DIMENSION)
    except ClientError as error:
        # An answer was lost, and the call that boto3 repeated finds nothing.
        if not is_error(error, "ObjectNotFoundException"):
            raise
    print(f"Deregistered {resource_id(variant)}")


def resource_id(variant: Variant) -> str:
    """What Application Auto Scaling calls the variant."""
    return f"endpoint/{variant.endpoint}/variant/{variant.name}"


def _described(autoscaling: Any, kind: str, **filters: Any) -> list[Arguments]:
    """Everything of a kind, from all pages."""
    pages = autoscaling.get_paginator(_DESCRIBE[kind]).paginate(**DIMENSION, **filters)
    return [each for page in pages for each in page[kind]]


def _taken_by(autoscaling: Any, operation: str, described: Arguments, *, without: str = "") -> Arguments:
    """What is described, less its read-only members: those that the call which makes it does not take."""
    taken = autoscaling.meta.service_model.operation_model(operation).input_shape.members
    return {name: value for name, value in described.items() if name in taken and name != without}
