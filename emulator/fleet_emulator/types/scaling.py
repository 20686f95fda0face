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
from fleet_emulator.types.resource import Declaration, HandlerError, Resource, ResourceType

_TARGET = ("ServiceNamespace", "ResourceId", "ScalableDimension")
_CONFIGURATIONS = {
    "TargetTrackingScaling": "TargetTrackingScalingPolicyConfiguration",
    "StepScaling": "StepScalingPolicyConfiguration",
}


def _backend(declaration: Declaration) -> EmbeddedAutoScaling:
    return cast(
        EmbeddedAutoScaling, applicationautoscaling_backends[declaration.account_id][declaration.region]
    )


class ScalableTarget(ResourceType):
    """`Ref` is `ResourceId|ScalableDimension|ServiceNamespace`.

    A target that is registered already is taken over with its scheduled actions unless the template has tags
    for it, the stack's included: with these Application Auto Scaling refuses it.
    """

    replacing_properties = frozenset(_TARGET)

    def create(self, declaration: Declaration) -> Resource:
        """Register the target and put its scheduled actions."""
        tags = _tags(declaration)
        return self._register(declaration, tags)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Register it again with its new capacities, and delete scheduled actions that it has no more.

        Raises:
            HandlerError: it is not registered any more.
        """
        target, backend = _target_of_properties(declaration), _backend(declaration)
        live = backend.target(target)
        if live is None:
            raise HandlerError(f"No scalable target found for {target}", "NotFound")
        after = self._register(declaration, None)
        tags = _tags(declaration)
        backend.tags.remove(live.arn, _tags(before).keys() - tags.keys())
        backend.tags.of(live.arn).update(tags)
        action_names = {
            action["ScheduledActionName"] for action in declaration.properties.get("ScheduledActions", [])
        }
        for action in before.properties.get("ScheduledActions", []):
            name = action["ScheduledActionName"]
            if name not in action_names:
                with suppress(ObjectNotFoundError):
                    backend.delete_scheduled_action(
                        target.namespace, name, target.resource_id, target.dimension
                    )
        return after

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Deregister the target; one that went with its endpoint is ignored."""
        with suppress(ObjectNotFoundError):
            _backend(declaration).deregister_scalable_target(
                *_target_of_reference(resource.physical_resource_id)
            )

    @staticmethod
    def _register(declaration: Declaration, tags: dict[str, str] | None) -> Resource:
        properties, target = declaration.properties, _target_of_properties(declaration)
        _backend(declaration).register_scalable_target(
            *target,
            int(properties["MinCapacity"]),
            int(properties["MaxCapacity"]),
            properties.get("RoleARN"),
            properties.get("SuspendedState"),
            tags,
        )
        for action in properties.get("ScheduledActions", []):
            _put(action, target, _backend(declaration))
        identifier = f"{target.resource_id}|{target.dimension}|{target.namespace}"
        return Resource(identifier, {"Id": identifier})


class ScalingPolicy(ResourceType):
    """`Ref` is the policy's ARN, by which CloudFormation knows it: one of the same name may be another's.

    Source: CloudFormation's schema of the type (`primaryIdentifier`), pulumi/pulumi-aws-native 1637.
    """

    def create(self, declaration: Declaration) -> Resource:
        """Put the policy on a registered target.

        Raises:
            HandlerError: the target has a policy of that name.
        """
        name = declaration.properties["PolicyName"]
        if any(policy.policy_name == name for policy in self._live(declaration)):
            raise HandlerError("Scaling Policy Already Exists", "AlreadyExists")
        return self._put(declaration)

    def replaces(self, before: Declaration, declaration: Declaration) -> bool:
        """When it has another name or another target."""
        return not declaration.changed_properties(before).isdisjoint(
            {*_TARGET, "PolicyName", "ScalingTargetId"}
        )

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Put the policy again.

        Raises:
            HandlerError: no policy has its ARN any more.
        """
        if not self._is_live(resource, declaration):
            raise HandlerError(f"Scaling policy {resource.physical_resource_id} not found", "NotFound")
        return self._put(declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the policy with its ARN; where none has it, nothing is left to delete."""
        if self._is_live(resource, declaration):
            _backend(declaration).delete_scaling_policy(
                declaration.properties["PolicyName"], *self._target(declaration)
            )

    def _put(self, declaration: Declaration) -> Resource:
        policy_type = declaration.properties["PolicyType"]
        policy = _backend(declaration).put_scaling_policy(
            declaration.properties["PolicyName"],
            *self._target(declaration),
            declaration.properties[_CONFIGURATIONS[policy_type]],
            policy_type,
        )
        return Resource(policy.policy_arn, {"Arn": policy.policy_arn})

    def _is_live(self, resource: Resource, declaration: Declaration) -> bool:
        return any(policy.policy_arn == resource.physical_resource_id for policy in self._live(declaration))

    def _live(self, declaration: Declaration) -> list[FakeApplicationAutoscalingPolicy]:
        target = self._target(declaration)
        _, policies = _backend(declaration).describe_scaling_policies(
            target.namespace, target.resource_id, target.dimension, sys.maxsize, None
        )
        return policies

    @staticmethod
    def _target(declaration: Declaration) -> TargetId:
        if "ScalingTargetId" in declaration.properties:
            return _target_of_reference(declaration.properties["ScalingTargetId"])
        return _target_of_properties(declaration)


def _target_of_properties(declaration: Declaration) -> TargetId:
    """The target that the resource's own properties name."""
    return TargetId(*(declaration.properties[key] for key in _TARGET))


def _target_of_reference(reference: str) -> TargetId:
    """The target whose `Ref` it is."""
    resource_id, dimension, namespace = reference.split("|")
    return TargetId(namespace, resource_id, dimension)


def _tags(declaration: Declaration) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in declaration.properties.get("Tags", [])}


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
