"""AWS::ApplicationAutoScaling: each type calls what the API calls, so both are refused the same."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from moto.applicationautoscaling.models import applicationautoscaling_backends

from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling
from fleet_emulator.autoscaling.targets import InvalidError, ObjectNotFoundError, TargetId
from fleet_emulator.types.resource import Declaration, Resource

_TARGET = ("ServiceNamespace", "ResourceId", "ScalableDimension")
_CONFIGURATIONS = {
    "TargetTrackingScaling": "TargetTrackingScalingPolicyConfiguration",
    "StepScaling": "StepScalingPolicyConfiguration",
}


def _backend(declared: Declaration) -> EmbeddedAutoScaling:
    return cast(EmbeddedAutoScaling, applicationautoscaling_backends[declared.account_id][declared.region])


class ScalableTarget:
    """`Ref` is `ResourceId|ScalableDimension|ServiceNamespace`.

    A target that is registered already is taken over with its scheduled actions; whether CloudFormation
    refuses it instead is not known.
    """

    def create(self, declared: Declaration) -> Resource:
        """Register the target and put its scheduled actions."""
        properties, target = declared.properties, _target_of_properties(declared)
        _backend(declared).register_scalable_target(
            *target,
            int(properties["MinCapacity"]),
            int(properties["MaxCapacity"]),
            properties.get("RoleARN"),
            properties.get("SuspendedState"),
        )
        for action in properties.get("ScheduledActions", []):
            _put(action, target, _backend(declared))
        identifier = f"{target.resource_id}|{target.dimension}|{target.namespace}"
        return Resource(identifier, {"Id": identifier})

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it is another target."""
        return not declared.changed(before).isdisjoint(_TARGET)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Register it again with its new capacities, and delete scheduled actions that it has no more."""
        after = self.create(declared)
        kept = {action["ScheduledActionName"] for action in declared.properties.get("ScheduledActions", [])}
        target = _target_of_properties(declared)
        for action in before.properties.get("ScheduledActions", []):
            name = action["ScheduledActionName"]
            if name not in kept:
                with suppress(ObjectNotFoundError):
                    _backend(declared).delete_scheduled_action(
                        target.namespace, name, target.resource_id, target.dimension
                    )
        return after

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Deregister the target; one that went with its endpoint is ignored."""
        with suppress(ObjectNotFoundError):
            _backend(declared).deregister_scalable_target(
                *_target_of_reference(resource.physical_resource_id)
            )


class ScalingPolicy:
    """`Ref` is the policy's ARN."""

    def create(self, declared: Declaration) -> Resource:
        """Put the policy on a registered target."""
        policy_type = declared.properties["PolicyType"]
        policy = _backend(declared).put_scaling_policy(
            declared.properties["PolicyName"],
            *self._target(declared),
            declared.properties[_CONFIGURATIONS[policy_type]],
            policy_type,
        )
        return Resource(policy.policy_arn, {"Arn": policy.policy_arn})

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name or another target."""
        return not declared.changed(before).isdisjoint({*_TARGET, "PolicyName", "ScalingTargetId"})

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Put the policy again."""
        return self.create(declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the policy; one that went with its target is ignored."""
        with suppress(ObjectNotFoundError):
            _backend(declared).delete_scaling_policy(
                declared.properties["PolicyName"], *self._target(declared)
            )

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
