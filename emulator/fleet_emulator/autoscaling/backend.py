"""Application Auto Scaling's targets, policies and scheduled actions.

moto registers variants that do not exist, leaves policies and scheduled actions behind when their target
goes, and takes them where no target is. Load moves no instances here: what scales is a target that is
registered with other bounds, and whatever calls `scale`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from moto.applicationautoscaling.models import (
    ApplicationAutoscalingBackend,
    FakeApplicationAutoscalingPolicy,
    FakeScalableTarget,
    FakeScheduledAction,
)
from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse
from moto.applicationautoscaling.urls import url_bases
from moto.sagemaker.models import sagemaker_backends

from fleet_emulator.autoscaling.activities import ScalingActivities
from fleet_emulator.autoscaling.targets import (
    InvalidError,
    ObjectNotFoundError,
    TargetId,
    TargetTags,
    require_schedule,
    require_time_zone,
    require_untracked_metric,
    suspended_state,
)
from fleet_emulator.autoscaling.variants import (
    INSTANCE_COUNT,
    NAMESPACE,
    ScaledVariant,
    least_capacity,
    require_variant,
    service_role,
)
from fleet_emulator.service_urls import ServiceUrls

_TARGET = ("ServiceNamespace", "ResourceId", "ScalableDimension")


class EmbeddedAutoScaling(ApplicationAutoscalingBackend):
    """One account's Application Auto Scaling in one region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.activities, self.tags = ScalingActivities(), TargetTags()

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedAutoScalingResponse.dispatch})

    def register_scalable_target(
        self,
        namespace: str,
        r_id: str,
        dimension: str,
        min_capacity: int | None,
        max_capacity: int | None,
        role_arn: Any,
        suspended_state: Any,
        tags: Mapping[str, str] | None = None,
    ) -> FakeScalableTarget:
        """RegisterScalableTarget, which registers a target or changes what is given.

        A capacity beyond the target's bounds is moved into them, whatever is suspended (source: Application
        Auto Scaling API reference, RegisterScalableTarget).

        Raises:
            InvalidError: the variant does not exist, has no such capacities, or is registered and given tags.
        """
        before = self.target(TargetId(namespace, r_id, dimension))
        if before is not None:
            self.tags.register(before.arn, tags)
        if namespace == NAMESPACE:
            require_variant(self._sagemaker, r_id)
        minimum = min_capacity if before is None or min_capacity is not None else before.min_capacity
        maximum = max_capacity if before is None or max_capacity is not None else before.max_capacity
        if minimum is None or maximum is None:
            raise InvalidError("Both MinCapacity and MaxCapacity are needed to register a scalable target")
        self._check_capacities(r_id, dimension, minimum, maximum)
        target = super().register_scalable_target(
            namespace,
            r_id,
            dimension,
            minimum,
            maximum,
            role_arn or service_role(namespace, self.partition, self.account_id),
            _merge_suspension(before, suspended_state),
        )
        if before is None:
            self.tags.register(target.arn, tags)
        if dimension == INSTANCE_COUNT and not (variant := ScaledVariant(self._sagemaker, r_id)).in_progress:
            if variant.capacity < minimum:
                self.activities.begin(variant, minimum, f"minimum capacity was set to {minimum}")
            elif variant.capacity > maximum:
                self.activities.begin(variant, maximum, f"maximum capacity was set to {maximum}")
        return target

    def scale(self, resource_id: str, capacity: int) -> None:
        """Scale a variant as if an alarm of its first policy had fired; do nothing where that is suspended.

        Raises:
            ObjectNotFoundError: it has no policy.
        """
        id = TargetId(NAMESPACE, resource_id, INSTANCE_COUNT)
        target, variant = self.target(id), ScaledVariant(self._sagemaker, resource_id)
        policy = next((policy for policy in self.policies.values() if _of(policy) == id), None)
        if target is None or policy is None:
            raise ObjectNotFoundError(f"No scaling policy found for {id}")
        minimum, maximum = target.min_capacity or 0, target.max_capacity or capacity
        capacity = min(max(capacity, minimum), maximum)
        way, alarm = ("Out", "High") if capacity > variant.capacity else ("In", "Low")
        state: Any = target.suspended_state  # annotated as str in moto
        if capacity != variant.capacity and not state[f"DynamicScaling{way}Suspended"]:
            monitor = f"TargetTracking-{resource_id}-Alarm{alarm}"
            cause = f"monitor alarm {monitor} in state ALARM triggered policy {policy.policy_name}"
            self.activities.begin(variant, capacity, cause)

    def deregister_scalable_target(self, namespace: str, r_id: str, dimension: str) -> None:
        """DeregisterScalableTarget, with the target's policies and scheduled actions.

        Raises:
            ObjectNotFoundError: it is not registered.
        """
        target_id = TargetId(namespace, r_id, dimension)
        target = self.target(target_id)
        if target is None:
            raise ObjectNotFoundError(f"No scalable target found for {target_id}")
        for policy in [policy for policy in self.policies.values() if _of(policy) == target_id]:
            super().delete_scaling_policy(policy.policy_name, namespace, r_id, dimension)
        self.scheduled_actions = [
            scheduled_action
            for scheduled_action in self.scheduled_actions
            if _of(scheduled_action) != target_id
        ]
        self.tags.deregister(target.arn)
        super().deregister_scalable_target(namespace, r_id, dimension)

    def put_scaling_policy(
        self,
        policy_name: str,
        service_namespace: str,
        resource_id: str,
        scalable_dimension: str,
        policy_body: dict[str, Any],
        policy_type: str | None,
    ) -> FakeApplicationAutoscalingPolicy:
        """PutScalingPolicy; a policy that is put again keeps its ARN.

        Raises:
            ObjectNotFoundError: its target is not registered.
            InvalidError: another policy of the target tracks the same metric.
        """
        target = TargetId(service_namespace, resource_id, scalable_dimension)
        self._require_target(target)
        require_untracked_metric(
            policy_name, policy_body, (p for p in self.policies.values() if _of(p) == target)
        )
        before = self.policies.get(FakeApplicationAutoscalingPolicy.formulate_key(*target, policy_name))
        policy = super().put_scaling_policy(policy_name, *target, policy_body, policy_type)
        if before is not None:
            policy.policy_arn, policy.creation_time = before.policy_arn, before.creation_time
        return policy

    def delete_scaling_policy(
        self, policy_name: str, service_namespace: str, resource_id: str, scalable_dimension: str
    ) -> None:
        """DeleteScalingPolicy.

        Raises:
            ObjectNotFoundError: there is none of that name.
        """
        target = TargetId(service_namespace, resource_id, scalable_dimension)
        if FakeApplicationAutoscalingPolicy.formulate_key(*target, policy_name) not in self.policies:
            raise ObjectNotFoundError(f"No scaling policy found for {target}, policy name: {policy_name}")
        super().delete_scaling_policy(policy_name, *target)

    def describe_scaling_policies(
        self,
        service_namespace: str,
        resource_id: str | None,
        scalable_dimension: str | None,
        max_results: int | None,
        next_token: str | None,
    ) -> tuple[str | None, list[FakeApplicationAutoscalingPolicy]]:
        """DescribeScalingPolicies; moto takes a target whose name begins like another's for that other."""
        start = int(next_token or 0)
        end = start + (max_results or 50)
        policies = [
            policy
            for policy in self.policies.values()
            if policy.service_namespace == service_namespace
            and resource_id in (None, policy.resource_id)
            and scalable_dimension in (None, policy.scalable_dimension)
        ]
        return (str(end) if end < len(policies) else None), policies[start:end]

    def put_scheduled_action(
        self,
        service_namespace: str,
        schedule: Any,
        timezone: Any,
        scheduled_action_name: str,
        resource_id: str,
        scalable_dimension: str,
        start_time: Any,
        end_time: Any,
        scalable_target_action: Any,
    ) -> None:
        """PutScheduledAction, which makes one or changes what is given of it.

        That its capacities are held to those of the variant is an inference: AWS documents no such refusal.

        Raises:
            ObjectNotFoundError: its target is not registered.
            InvalidError: its schedule, its time zone or its capacities are none.
        """
        target = TargetId(service_namespace, resource_id, scalable_dimension)
        self._require_target(target)
        if schedule is not None:
            require_schedule(schedule)
        if timezone is not None:
            require_time_zone(timezone)
        if scalable_target_action is not None:
            self._check_capacities(
                resource_id,
                scalable_dimension,
                scalable_target_action.get("MinCapacity"),
                scalable_target_action.get("MaxCapacity"),
            )
        is_new = not self._has_scheduled_action(scheduled_action_name, target)
        if is_new and (schedule is None or not scalable_target_action):
            raise InvalidError("Schedule and ScalableTargetAction are needed to create a scheduled action")
        super().put_scheduled_action(
            service_namespace,
            schedule,
            timezone,
            scheduled_action_name,
            resource_id,
            scalable_dimension,
            start_time,
            end_time,
            scalable_target_action,
        )

    def delete_scheduled_action(
        self, service_namespace: str, scheduled_action_name: str, resource_id: str, scalable_dimension: str
    ) -> None:
        """DeleteScheduledAction.

        Raises:
            ObjectNotFoundError: there is none of that name.
        """
        target = TargetId(service_namespace, resource_id, scalable_dimension)
        if not self._has_scheduled_action(scheduled_action_name, target):
            raise ObjectNotFoundError(
                f"No scheduled action found for {target}, scheduled action name: {scheduled_action_name}"
            )
        super().delete_scheduled_action(
            service_namespace, scheduled_action_name, resource_id, scalable_dimension
        )

    def _check_capacities(self, r_id: str, dimension: str, minimum: int | None, maximum: int | None) -> None:
        if dimension == INSTANCE_COUNT and minimum is not None:
            smallest_capacity = least_capacity(self._sagemaker, r_id)
            if minimum < smallest_capacity:
                raise InvalidError(
                    f"Minimum capacity {minimum} is less than the minimum allowed, {smallest_capacity}"
                )
        if minimum is not None and maximum is not None and maximum < minimum:
            raise InvalidError("Maximum capacity cannot be less than minimum capacity")

    def _has_scheduled_action(self, name: str, target: TargetId) -> bool:
        return any(
            scheduled_action.scheduled_action_name == name and _of(scheduled_action) == target
            for scheduled_action in self.scheduled_actions
        )

    def _require_target(self, target: TargetId) -> None:
        if self.target(target) is None:
            raise ObjectNotFoundError(f"No scalable target registered for {target}")

    def target(self, target_id: TargetId) -> FakeScalableTarget | None:
        """The registered target, or None."""
        registration = self.targets.get(target_id.dimension, {}).get(target_id.resource_id)
        return (
            registration
            if registration is not None and registration.service_namespace == target_id.namespace
            else None
        )

    @property
    def _sagemaker(self) -> Any:
        return sagemaker_backends[self.account_id][self.region_name]


class EmbeddedAutoScalingResponse(ApplicationAutoScalingResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def register_scalable_target(self) -> str:
        """RegisterScalableTarget with its tags, which moto does not read."""
        self._validate_params()
        target = self._backend.register_scalable_target(
            *map(self._get_param, _TARGET),
            *map(self._get_int_param, ("MinCapacity", "MaxCapacity")),
            *map(self._get_param, ("RoleARN", "SuspendedState", "Tags")),
        )
        return json.dumps({"ScalableTargetARN": target.arn})

    def list_tags_for_resource(self) -> str:
        """ListTagsForResource of a scalable target."""
        return json.dumps({"Tags": self._backend.tags.of(self._get_param("ResourceARN"))})

    def tag_resource(self) -> str:
        """TagResource of a scalable target."""
        self._backend.tags.of(self._get_param("ResourceARN")).update(self._get_param("Tags"))
        return "{}"

    def untag_resource(self) -> str:
        """UntagResource of a scalable target."""
        self._backend.tags.remove(self._get_param("ResourceARN"), self._get_param("TagKeys"))
        return "{}"

    def describe_scaling_activities(self) -> str:
        """DescribeScalingActivities, the newest first; all on one page."""
        return json.dumps(
            {"ScalingActivities": self._backend.activities.answers(*map(self._get_param, _TARGET))}
        )

    @property
    def _backend(self) -> EmbeddedAutoScaling:
        return cast(EmbeddedAutoScaling, self.applicationautoscaling_backend)


def _merge_suspension(before: FakeScalableTarget | None, suspensions: Mapping[str, bool] | None) -> Any:
    state: Any = None if before is None else before.suspended_state  # annotated as str in moto
    return suspended_state(state, suspensions)


def _of(registration: FakeApplicationAutoscalingPolicy | FakeScheduledAction) -> TargetId:
    return TargetId(registration.service_namespace, registration.resource_id, registration.scalable_dimension)
