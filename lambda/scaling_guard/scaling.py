"""A variant's scaling as data: the arguments of the calls that register it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

Arguments = dict[str, Any]

SUSPENSION_STATE = {"DynamicScalingInSuspended": True, "DynamicScalingOutSuspended": True}
"""The members of SuspendedState that the guard sets.

Scheduled actions continue: Application Auto Scaling never makes up for one that was due during a suspension
(source: its user guide, "Suspend and resume scaling"), and the range of the night would stay for the day.
"""


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """A registered target with its policies and scheduled actions.

    Attributes:
        target: arguments of RegisterScalableTarget.
        policies: arguments of PutScalingPolicy, by the policy's name.
        actions: arguments of PutScheduledAction, by the action's name.
        rollback_policies: policies of the stack that its update replaces, which only a rollback puts again.
        needs_restore: whether the guard has suspended or deregistered the target, and has to restore it.
    """

    target: Arguments
    policies: dict[str, Arguments] = field(default_factory=dict)
    actions: dict[str, Arguments] = field(default_factory=dict)
    rollback_policies: dict[str, Arguments] = field(default_factory=dict)
    needs_restore: bool = True

    @property
    def is_suspended(self) -> bool:
        """Whether no policy scales the target."""
        return self.state.items() >= SUSPENSION_STATE.items()

    @property
    def state(self) -> Arguments:
        """The target's SuspendedState."""
        return dict(self.target.get("SuspendedState", {}))

    def suspension(self, backup: Self | None) -> Self:
        """The backup to store while this scaling is suspended: with the state that it had."""
        if backup is None:
            return type(self)(target=self.target)
        source = backup if self.is_suspended and backup.needs_restore else self
        return replace(backup, target={**self.target, "SuspendedState": source.state}, needs_restore=True)

    def merge(self, backup: Self) -> Self:
        """The backup, with the policies and actions of this scaling in place of its own of the same names."""
        return replace(
            backup,
            policies=backup.policies | self.policies,
            actions=backup.actions | self.actions,
        )

    def retire_policies(self, names: Iterable[str], definitions: Mapping[str, Arguments]) -> Self:
        """Move these policies to `rollback_policies`, as far as they are defined."""
        changes = {name: definitions[name] for name in names if name in definitions}
        rest = {name: policy for name, policy in self.policies.items() if name not in changes}
        return replace(self, policies=rest, rollback_policies=self.rollback_policies | changes)

    def revive_policies(self, names: Iterable[str]) -> Self:
        """Move these policies from `rollback_policies` to `policies`, as far as it has them."""
        changes = {name: self.rollback_policies[name] for name in names if name in self.rollback_policies}
        rest = {name: policy for name, policy in self.rollback_policies.items() if name not in changes}
        return replace(self, policies=self.policies | changes, rollback_policies=rest)

    def to_json(self) -> str:
        """Times are written as ISO 8601, which the calls take as well."""
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """The scaling that `to_json` wrote."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        """Such as `1 to 4 instances, policies Gpu, Load, scheduled actions none`."""
        policies, actions = (", ".join(names) or "none" for names in (self.policies, self.actions))
        minimum, maximum = self.target["MinCapacity"], self.target["MaxCapacity"]
        return f"{minimum} to {maximum} instances, policies {policies}, scheduled actions {actions}"
