"""AWS::ApplicationAutoScaling: each type calls what the API calls, so both are refused the same."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from moto.applicationautoscaling.models import (
    FakeApplicationAutoscalingPolicy,
    applicationautoscaling_backends,
)

from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling
from fleet_emulator.autoscaling.targets import InvalidError, ObjectNotFoundError, TargetId
from fleet_emulator.types.resource import Declaration, HandlerError, Resource

_TARGET = ("ServiceNamespace", "ResourceId", "ScalableDimension")
_CONFIGURATIONS = {
    "TargetTrackingScaling": "TargetTrackingScalingPolicyConfiguration",
    "StepScaling": "StepScalingPolicyConfiguration",
}


def _backend(declared: Declaration) -> EmbeddedAutoScaling:
    return cast(EmbeddedAutoScaling, applicationautoscaling_backends[declared.account_id][declared.region])


class ScalableTarget:
    """`Ref` is `ResourceId|ScalableDimension|ServiceNamespace`.

    A target that is registered already is taken over with its scheduled actions unless the template has tags
    for it, the stack's included: with these Application Auto Scaling refuses it.
    """

    def create(self, declared: Declaration) -> Resource:
        """Register the target and put its scheduled actions."""
        tags = _tags(declared)
        return self._register(declared, tags)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it is another target."""
        return not declared.changed(before).isdisjoint(_TARGET)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Register it again with its new capacities, and delete scheduled actions that it has no more.

        Raises:
            HandlerError: it is not registered any more.
        """
        target, backend = _target_of_properties(declared), _backend(declared)
        live = backend.target(target)
        if live is None:
            raise HandlerError(f"No scalable target found for {target}", "NotFound")
        after = self._register(declared, None)
        tags = _tags(declared)
        backend.tags.remove(live.arn, _tags(before).keys() - tags.keys())
        backend.tags.of(live.arn).update(tags)
        kept = {action["ScheduledActionName"] for action in declared.properties.get("ScheduledActions", [])}
        for action in before.properties.get("ScheduledActions", []):
            name = action["ScheduledActionName"]
            if name not in kept:
                with suppress(ObjectNotFoundError):
                    backend.delete_scheduled_action(
                        target.namespace, name, target.resource_id, target.dimension
                    )
        return after

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Deregister the target; one that went with its endpoint is ignored."""
        with suppress(ObjectNotFoundError):
            _backend(declared).deregister_scalable_target(
                *_target_of_reference(resource.physical_resource_id)
            )

    @staticmethod
    def _register(declared: Declaration, tags: dict[str, str] | None) -> Resource:
        properties, target = declared.properties, _target_of_properties(declared)
        _backend(declared).register_scalable_target(
            *target,
            int(properties["MinCapacity"]),
            int(properties["MaxCapacity"]),
            properties.get("RoleARN"),
            properties.get("SuspendedState"),
            tags,
        )
        for action in properties.get("ScheduledActions", []):
            _put(action, target, _backend(declared))
        identifier = f"{target.resource_id}|{target.dimension}|{target.namespace}"
        return Resource(identifier, {"Id": identifier})


class ScalingPolicy:
    """`Ref` is the policy's ARN, by which CloudFormation knows it: one of the same name may be another's.

    Source: CloudFormation's schema of the type (`primaryIdentifier`), pulumi/pulumi-aws-native 1637.
    """

    def create(self, declared: Declaration) -> Resource:
        """Put the policy on a registered target.

        Raises:
            HandlerError: the target has a policy of that name.
        """
        name = declared.properties["PolicyName"]
        if any(policy.policy_name == name for policy in self._live(declared)):
            raise HandlerError("Scaling Policy Already Exists", "AlreadyExists")
        return self._put(declared)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name or another target."""
        return not declared.changed(before).isdisjoint({*_TARGET, "PolicyName", "ScalingTargetId"})

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Put the policy again.

        Raises:
            HandlerError: no policy has its ARN any more.
        """
        if not self._is_live(resource, declared):
            raise HandlerError(f"Scaling policy {resource.physical_resource_id} not found", "NotFound")
        return self._put(declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the policy with its ARN; where none has it, nothing is left to delete."""
        if self._is_live(resource, declared):
            _backend(declared).delete_scaling_policy(
                declared.properties["PolicyName"], *self._target(declared)
            )

    def _put(self, declared: Declaration) -> Resource:
        policy_type = declared.properties["PolicyType"]
        policy = _backend(declared).put_scaling_policy(
            declared.properties["PolicyName"],
            *self._target(declared),
            declared.properties[_CONFIGURATIONS[policy_type]],
            policy_type,
        )
        return Resource(policy.policy_arn, {"Arn": policy.policy_arn})

    def _is_live(self, resource: Resource, declared: Declaration) -> bool:
        return any(policy.policy_arn == resource.physical_resource_id for policy in self._live(declared))

    def _live(self, declared: Declaration) -> list[FakeApplicationAutoscalingPolicy]:
        target = self._target(declared)
        _, policies = _backend(declared).describe_scaling_policies(
            target.namespace, target.resource_id, target.dimension, sys.maxsize, None
        )
        return policies

    @staticmethod
    def _target(declared: Declaration) -> TargetId:
        if "ScalingTargetId" in declared.properties:
            return _target_of_reference(declared.properties["ScalingTargetId"])
        return _target_of_properties(declared)


def _target_of_properties(declared: Declaration) -> TargetId:
    """The target that the resource's own properties name."""
    return TargetId(*(declared.properties[key] for key in _TARGET))


def _target_of_reference(reference: str) -> TargetId:
    """The target whose `Ref` it is."""
    resource_id, dimension, namespace = reference.split("|")
    return TargetId(namespace, resource_id, dimension)


def _tags(declared: Declaration) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in declared.properties.get("Tags", [])}


def _put(action: dict[str, Any], target: TargetId, backend: EmbeddedAutoScaling) -> None:
    capacities = action.get("ScalableTargetAction", {})
    backend.put_scheduled_action(
        target.namespace,
        action.get("Schedule"),
        action.get("Timezone"),
        action["ScheduledActionName"],
        target.resource_id,
        target.dimension,
        _seconds(action.get("StartTime")),
        _seconds(action.get("EndTime")),
        {name: int(value) for name, value in capacities.items()},
    )


def _seconds(time: str | None) -> float | None:
    """A template's time as the API has it; without a zone it is in UTC."""
    if time is None:
        return None
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        raise InvalidError(f"Invalid time: {time}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
