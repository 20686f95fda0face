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
from triton_fleet.aws.drift.difference import ABSENT, DELETED, Comparison, Whole, differences
from triton_fleet.awsapi.describe import OF_VARIANTS

TARGET, POLICY = "AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy"
NOT_SUSPENDED = {
    f"{name}Suspended": False for name in ("DynamicScalingIn", "DynamicScalingOut", "ScheduledScaling")
}
TRACKING = "TargetTrackingScalingPolicyConfiguration"
CAPACITIES = ("MinCapacity", "MaxCapacity")
SCHEDULED = ("Schedule", "Timezone", "StartTime", "EndTime", "ScalableTargetAction")
"""What a person sets of a scheduled action."""
SUBJECT = "Application Auto Scaling"


def bounds(target: DeclaredResource) -> tuple[set[int], set[int]]:
    """The least and the most instances that a declared target may have: its own, and those of schedules."""
    actions = [each["ScalableTargetAction"] for each in target.properties.get("ScheduledActions", [])]
    least, most = (
        {int(action[name]) for action in (target.properties, *actions) if name in action}
        for name in CAPACITIES
    )
    return least, most


def scaling(access: Access, stack: DeclaredStack, variants: list[str]) -> Iterator[Comparison]:
    """The scaling of a stack, and of its `variants` (resource ids) that somebody else scales."""
    declared = {each.properties["ResourceId"]: each for each in stack.of_type(TARGET)}
    ids = list(dict.fromkeys([*declared, *variants]))
    if not ids:
        return
    client = access.client("application-autoscaling")
    pages = client.get_paginator("describe_scalable_targets").paginate(**OF_VARIANTS, ResourceIds=ids)
    live = {each["ResourceId"]: each for page in pages for each in page["ScalableTargets"]}
    for id in ids:
        if id in declared:
            policies = [
                each
                for each in stack.of_type(POLICY)
                if str(each.properties.get("ScalingTargetId", id)).startswith(id)
            ]
            yield from _Scaling(client, declared[id], policies, live.get(id)).comparisons()
        elif id in live:
            found = f"{live[id]['MinCapacity']} to {live[id]['MaxCapacity']} instances"
            differing = differences({"scaling": ABSENT}, {"scaling": found})
            restore = partial(client.deregister_scalable_target, **OF_VARIANTS, ResourceId=id)
            yield Comparison(subject=SUBJECT, differences=tuple(differing), restore=restore)


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
        self._declared = {policy.properties["PolicyName"]: policy for policy in policies}
        self._policies = self._found("describe_scaling_policies", "ScalingPolicies", "PolicyName")
        self._actions = self._found("describe_scheduled_actions", "ScheduledActions", "ScheduledActionName")

    def _found(self, operation: str, member: str, name: str) -> dict[str, Any]:
        pages = self._client.get_paginator(operation).paginate(**self._id)
        return {each[name]: each for page in pages for each in page[member]}

    def comparisons(self) -> Iterator[Comparison]:
        if self._live is None:
            yield Comparison(subject=SUBJECT, differences=(DELETED,), restore=self._restore)
        else:
            differing = differences(self._wanted(), self._actual(self._live))
            yield Comparison(subject=SUBJECT, differences=tuple(differing), restore=self._restore)
        for name, policy in self._declared.items():
            subject = f"{SUBJECT}, policy {name}"
            differing = differences(
                _with_default(policy.properties), _with_default(self._policies.get(name, {}))
            )
            found = tuple(differing) if name in self._policies else (DELETED,)
            yield Comparison(subject=subject, differences=found, restore=partial(self._put, policy))

    def _wanted(self) -> dict[str, Any]:
        properties = self._target.properties
        actions = {
            each["ScheduledActionName"]: _set_by_people(each)
            for each in properties.get("ScheduledActions", [])
        }
        return {
            **{name: properties[name] for name in CAPACITIES},
            "SuspendedState": NOT_SUSPENDED | properties.get("SuspendedState", {}),
            "ScheduledActions": Whole(actions),
            "ScalingPolicies": Whole(),
        }

    def _actual(self, live: Mapping[str, Any]) -> dict[str, Any]:
        """What runs; a capacity that a schedule may have set counts as declared."""
        properties = self._target.properties
        scheduled = self._scheduled_capacities()
        return {
            **{name: properties[name] if name in scheduled else live[name] for name in CAPACITIES},
            "SuspendedState": NOT_SUSPENDED | live.get("SuspendedState", {}),
            "ScheduledActions": {name: _set_by_people(action) for name, action in self._actions.items()},
            "ScalingPolicies": {name: self._policies[name]["PolicyType"] for name in self._extra()},
        }

    def _scheduled_capacities(self) -> dict[str, int]:
        """The live capacities that are declared, by the target or for some hours by a schedule."""
        live, allowed = self._live or {}, zip(CAPACITIES, bounds(self._target), strict=True)
        return {name: live[name] for name, numbers in allowed if live.get(name) in numbers}

    def _extra(self) -> list[str]:
        return [name for name in self._policies if name not in self._declared]

    def _restore(self) -> None:
        wanted = self._wanted()
        declared = {name: int(wanted[name]) for name in CAPACITIES}
        capacities = declared | self._scheduled_capacities()
        if capacities["MinCapacity"] > capacities["MaxCapacity"]:  # one of a schedule's, and one by hand
            capacities = declared  # until the schedule acts again
        tags = {each["Key"]: each["Value"] for each in self._target.properties.get("Tags", [])}
        self._client.register_scalable_target(
            **self._id,
            **capacities,
            SuspendedState=wanted["SuspendedState"],
            **({"Tags": tags} if self._live is None and tags else {}),  # refused for one that is registered
        )
        for name in self._extra():
            self._client.delete_scaling_policy(**self._id, PolicyName=name)
        for name in self._actions.keys() - wanted["ScheduledActions"].keys():
            self._client.delete_scheduled_action(**self._id, ScheduledActionName=name)
        for name, action in wanted["ScheduledActions"].items():
            self._client.put_scheduled_action(**self._id, ScheduledActionName=name, **action)

    def _put(self, policy: DeclaredResource) -> None:
        given = {name: value for name, value in policy.properties.items() if name != "ScalingTargetId"}
        self._client.put_scaling_policy(**{**given, **self._id})


def _set_by_people(action: Mapping[str, Any]) -> dict[str, Any]:
    return {key: action[key] for key in SCHEDULED if key in action}


def _with_default(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A policy with its defaults; its target is compared by itself."""
    found = {name: value for name, value in policy.items() if name != "ScalingTargetId"}
    if TRACKING in found:
        found[TRACKING] = {"DisableScaleIn": False} | found[TRACKING]
    return found
