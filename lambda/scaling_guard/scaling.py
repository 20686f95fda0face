"""A variant's scaling as data: what the calls take that make it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

Arguments = dict[str, Any]

SUSPENDED = {"DynamicScalingInSuspended": True, "DynamicScalingOutSuspended": True}
"""The members of SuspendedState that the guard sets.

Scheduled actions go on: Application Auto Scaling never makes up for one that fell due while it was suspended
(source: its user guide, "Suspend and resume scaling"), and the range of the night would stay for the day.
"""


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """A registered target with its policies and scheduled actions.

    Attributes:
        target: arguments of RegisterScalableTarget.
        policies: arguments of PutScalingPolicy, by the policy's name.
        actions: arguments of PutScheduledAction, by the action's name.
        replaced: policies of the stack that its update replaces, which only a rollback puts again.
        is_aside: whether the target is suspended or deregistered by the guard, to be brought back.
    """

    target: Arguments
    policies: dict[str, Arguments] = field(default_factory=dict)
    actions: dict[str, Arguments] = field(default_factory=dict)
    replaced: dict[str, Arguments] = field(default_factory=dict)
    is_aside: bool = True

    @property
    def is_suspended(self) -> bool:
        """Whether no policy scales the target."""
        return self.state.items() >= SUSPENDED.items()

    @property
    def state(self) -> Arguments:
        """The target's SuspendedState."""
        return dict(self.target.get("SuspendedState", {}))

    def suspension(self, kept: Self | None) -> Self:
        """The scaling to keep while this one is suspended: with the state that it had."""
        if kept is None:
            return type(self)(target=self.target)
        source = kept if self.is_suspended and kept.is_aside else self
        return replace(kept, target={**self.target, "SuspendedState": source.state}, is_aside=True)

    def completed_by(self, kept: Self) -> Self:
        """Its policies and actions with those that only the kept one has, and the kept one's target."""
        return replace(
            kept,
            policies=kept.policies | self.policies,
            actions=kept.actions | self.actions,
        )

    def with_replaced(self, names: Iterable[str], definitions: Mapping[str, Arguments]) -> Self:
        """The same with these policies among the replaced ones, as far as they are defined."""
        moved = {name: definitions[name] for name in names if name in definitions}
        rest = {name: policy for name, policy in self.policies.items() if name not in moved}
        return replace(self, policies=rest, replaced=self.replaced | moved)

    def with_restored(self, names: Iterable[str]) -> Self:
        """The same with these policies among those that are brought back, as far as they were replaced."""
        moved = {name: self.replaced[name] for name in names if name in self.replaced}
        rest = {name: policy for name, policy in self.replaced.items() if name not in moved}
        return replace(self, policies=self.policies | moved, replaced=rest)

    def to_json(self) -> str:
        """Times are written as ISO 8601, which the calls take as well."""
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """The scaling that `to_json` wrote, also that of earlier releases."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        """Such as `1 to 4 instances, policies Gpu, Load, scheduled actions none`."""
        policies, actions = (", ".join(names) or "none" for names in (self.policies, self.actions))
        least, most = self.target["MinCapacity"], self.target["MaxCapacity"]
        return f"{least} to {most} instances, policies {policies}, scheduled actions {actions}"
