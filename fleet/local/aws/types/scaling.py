"""AWS::ApplicationAutoScaling, over moto's backend."""

from __future__ import annotations

from typing import Any

from moto.applicationautoscaling.exceptions import AWSValidationException
from moto.applicationautoscaling.models import ApplicationAutoscalingBackend, applicationautoscaling_backends

from fleet.local.aws.types.resource import Declared, Resource

_TARGET = ("ResourceId", "ScalableDimension", "ServiceNamespace")
_CONFIGURATIONS = {
    "TargetTrackingScaling": "TargetTrackingScalingPolicyConfiguration",
    "StepScaling": "StepScalingPolicyConfiguration",
}


def _backend(declared: Declared) -> ApplicationAutoscalingBackend:
    return applicationautoscaling_backends[declared.account_id][declared.region]


class ScalableTarget:
    """`Ref` is `ResourceId|ScalableDimension|ServiceNamespace`."""

    def create(self, declared: Declared) -> Resource:
        """Register the target."""
        resource_id, dimension, namespace = (declared.properties[key] for key in _TARGET)
        suspended: Any = declared.properties.get("SuspendedState")
        _backend(declared).register_scalable_target(
            namespace,
            resource_id,
            dimension,
            declared.properties["MinCapacity"],
            declared.properties["MaxCapacity"],
            declared.properties.get("RoleARN", ""),
            suspended,
        )
        identifier = f"{resource_id}|{dimension}|{namespace}"
        return Resource(identifier, {"Id": identifier})

    def replaces(self, before: Declared, declared: Declared) -> bool:
        """When it is another target."""
        return not declared.changed(before).isdisjoint(_TARGET)

    def update(self, resource: Resource, before: Declared, declared: Declared) -> Resource:
        """Register it again with its new capacities."""
        return self.create(declared)

    def delete(self, resource: Resource, declared: Declared) -> None:
        """Deregister the target."""
        resource_id, dimension, namespace = resource.physical_resource_id.split("|")
        _backend(declared).deregister_scalable_target(namespace, resource_id, dimension)


class ScalingPolicy:
    """`Ref` is the policy's ARN."""

    def create(self, declared: Declared) -> Resource:
        """Put the policy on a registered target."""
        resource_id, dimension, namespace = self._target(declared)
        if not _backend(declared).describe_scalable_targets(namespace, [resource_id], dimension):
            raise AWSValidationException(
                f"No scalable target registered for service namespace: {namespace}, "
                f"resource ID: {resource_id}, scalable dimension: {dimension}"
            )
        policy_type = declared.properties["PolicyType"]
        policy = _backend(declared).put_scaling_policy(
            declared.properties["PolicyName"],
            namespace,
            resource_id,
            dimension,
            declared.properties[_CONFIGURATIONS[policy_type]],
            policy_type,
        )
        return Resource(policy.policy_arn, {"Arn": policy.policy_arn})

    def replaces(self, before: Declared, declared: Declared) -> bool:
        """When it has another name or another target."""
        return not declared.changed(before).isdisjoint({*_TARGET, "PolicyName", "ScalingTargetId"})

    def update(self, resource: Resource, before: Declared, declared: Declared) -> Resource:
        """Put the policy again."""
        return self.create(declared)

    def delete(self, resource: Resource, declared: Declared) -> None:
        """Take the policy off its target."""
        resource_id, dimension, namespace = self._target(declared)
        _backend(declared).delete_scaling_policy(
            declared.properties["PolicyName"], namespace, resource_id, dimension
        )

    @staticmethod
    def _target(declared: Declared) -> tuple[str, str, str]:
        if "ScalingTargetId" in declared.properties:
            resource_id, dimension, namespace = declared.properties["ScalingTargetId"].split("|")
        else:
            resource_id, dimension, namespace = (declared.properties[key] for key in _TARGET)
        return resource_id, dimension, namespace
