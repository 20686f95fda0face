"""Scaling of variants.

CloudFormation can read targets and policies. It would report a limit that a schedule has set, and would miss
policies that somebody added; whether it detects drift of policies is not known (docs/decisions/0034).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.declaration import DeclaredResource, DeclaredStack
from triton_fleet.aws.drift.difference import ABSENT, DELETION, Comparison, Whole, differences
from triton_fleet.awsapi.describe import OF_VARIANTS

TARGET, POLICY = "AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy"
ACTIVE_STATE = {
    f"{name}Suspended": False for name in ("DynamicScalingIn", "DynamicScalingOut", "ScheduledScaling")
}
TRACKING_CONFIGURATION = "TargetTrackingScalingPolicyConfiguration"
CAPACITIES = ("MinCapacity", "MaxCapacity")
ACTION_PROPERTIES = ("Schedule", "Timezone", "StartTime", "EndTime", "ScalableTargetAction")
"""What a person sets of a scheduled action."""
SUBJECT = "Application Auto Scaling"


def bounds(target: DeclaredResource) -> tuple[set[int], set[int]]:
    """The least and the most instances that a declared target may have: its own, and those of schedules."""
    actions = [action["ScalableTargetAction"] for action in target.properties.get("ScheduledActions", [])]
    minimums, maximums = (
        {int(action[name]) for action in (target.properties, *actions) if name in action}
        for name in CAPACITIES
    )
    return minimums, maximums


def scaling(access: Access, stack: DeclaredStack, variants: list[str]) -> Iterator[Comparison]:
    """The scaling of a stack, and of its `variants` (resource ids) that somebody else scales."""
    declarations = {item.properties["ResourceId"]: item for item in stack.of_type(TARGET)}
    ids = list(dict.fromkeys([*declarations, *variants]))
    if not ids:
        return
    client = access.client("application-autoscaling")
    pages = client.get_paginator("describe_scalable_targets").paginate(**OF_VARIANTS, ResourceIds=ids)
    live = {item["ResourceId"]: item for page in pages for item in page["ScalableTargets"]}
    for id in ids:
        if id in declarations:
            policies = [
                item
                for item in stack.of_type(POLICY)
                if str(item.properties.get("ScalingTargetId", id)).startswith(id)
            ]
            yield from _Scaling(client, declarations[id], policies, live.get(id)).comparisons()
        elif id in live:
            range_text = f"{live[id]['MinCapacity']} to {live[id]['MaxCapacity']} instances"
            changes = differences({"scaling": ABSENT}, {"scaling": range_text})
            restore = partial(client.deregister_scalable_target, **OF_VARIANTS, ResourceId=id)
            yield Comparison(subject=SUBJECT, differences=tuple(changes), restore=restore)


class _Scaling:
    """One variant's target with its policies."""

    def __init__(
        self,
        client: Any,
        target: DeclaredResource,
        policies: list[DeclaredResource],
        live: Mapping[str, Any] | None,
    ) -> None:
        self._client, self._target, self._live = client, target, live
        self._id = {**OF_VARIANTS, "ResourceId": target.properties["ResourceId"]}
        self._declarations = {policy.properties["PolicyName"]: policy for policy in policies}
        self._policies = self._read("describe_scaling_policies", "ScalingPolicies", "PolicyName")
        self._actions = self._read("describe_scheduled_actions", "ScheduledActions", "ScheduledActionName")

    def _read(self, operation: str, member: str, name: str) -> dict[str, Any]:
        pages = self._client.get_paginator(operation).paginate(**self._id)
        return {item[name]: item for page in pages for item in page[member]}

    def comparisons(self) -> Iterator[Comparison]:
        if self._live is None:
            yield Comparison(subject=SUBJECT, differences=(DELETION,), restore=self._restore)
        else:
            changes = differences(self._expectation(), self._actual(self._live))
            yield Comparison(subject=SUBJECT, differences=tuple(changes), restore=self._restore)
        for name, policy in self._declarations.items():
            subject = f"{SUBJECT}, policy {name}"
            changes = differences(
                _with_default(policy.properties), _with_default(self._policies.get(name, {}))
            )
            policy_changes = tuple(changes) if name in self._policies else (DELETION,)
            yield Comparison(subject=subject, differences=policy_changes, restore=partial(self._put, policy))

    def _expectation(self) -> dict[str, Any]:
        properties = self._target.properties
        actions = {
            action["ScheduledActionName"]: _set_by_people(action)
            for action in properties.get("ScheduledActions", [])
        }
        return {
            **{name: properties[name] for name in CAPACITIES},
            "SuspendedState": ACTIVE_STATE | properties.get("SuspendedState", {}),
            "ScheduledActions": Whole(actions),
            "ScalingPolicies": Whole(),
        }

    def _actual(self, live: Mapping[str, Any]) -> dict[str, Any]:
        """The live state; a capacity that a schedule may have set counts as declared."""
        properties = self._target.properties
        capacities = self._scheduled_capacities()
        return {
            **{name: properties[name] if name in capacities else live[name] for name in CAPACITIES},
            "SuspendedState": ACTIVE_STATE | live.get("SuspendedState", {}),
            "ScheduledActions": {name: _set_by_people(action) for name, action in self._actions.items()},
            "ScalingPolicies": {name: self._policies[name]["PolicyType"] for name in self._extra()},
        }

    def _scheduled_capacities(self) -> dict[str, int]:
        """The live capacities that are declared, by the target or for some hours by a schedule."""
        live, bounds_by_name = self._live or {}, zip(CAPACITIES, bounds(self._target), strict=True)
        return {name: live[name] for name, numbers in bounds_by_name if live.get(name) in numbers}

    def _extra(self) -> list[str]:
        return [name for name in self._policies if name not in self._declarations]

    def _restore(self) -> None:
        expectation = self._expectation()
        target_capacities = {name: int(expectation[name]) for name in CAPACITIES}
        capacities = target_capacities | self._scheduled_capacities()
        if capacities["MinCapacity"] > capacities["MaxCapacity"]:  # one of a schedule's, and one by hand
            capacities = target_capacities  # until the schedule acts again
        tags = {tag["Key"]: tag["Value"] for tag in self._target.properties.get("Tags", [])}
        self._client.register_scalable_target(
            **self._id,
            **capacities,
            SuspendedState=expectation["SuspendedState"],
            **({"Tags": tags} if self._live is None and tags else {}),  # refused for one that is registered
        )
        for name in self._extra():
            self._client.delete_scaling_policy(**self._id, PolicyName=name)
        for name in self._actions.keys() - expectation["ScheduledActions"].keys():
            self._client.delete_scheduled_action(**self._id, ScheduledActionName=name)
        for name, action in expectation["ScheduledActions"].items():
            self._client.put_scheduled_action(**self._id, ScheduledActionName=name, **action)

    def _put(self, policy: DeclaredResource) -> None:
        arguments = {name: value for name, value in policy.properties.items() if name != "ScalingTargetId"}
        self._client.put_scaling_policy(**{**arguments, **self._id})


def _set_by_people(action: Mapping[str, Any]) -> dict[str, Any]:
    return {key: action[key] for key in ACTION_PROPERTIES if key in action}


def _with_default(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A policy with its defaults; its target is compared by itself."""
    properties = {name: value for name, value in policy.items() if name != "ScalingTargetId"}
    if TRACKING_CONFIGURATION in properties:
        properties[TRACKING_CONFIGURATION] = {"DisableScaleIn": False} | properties[TRACKING_CONFIGURATION]
    return properties
