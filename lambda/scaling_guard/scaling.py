"""A variant's scaling as data: what the calls take that make it again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

Arguments = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """A registered target with its policies and scheduled actions.

    Attributes:
        target: arguments of RegisterScalableTarget.
        policies: arguments of PutScalingPolicy, by the policy's name.
        actions: arguments of PutScheduledAction, by the action's name.
    """

    target: Arguments
    policies: dict[str, Arguments] = field(default_factory=dict)
    actions: dict[str, Arguments] = field(default_factory=dict)

    def completed_by(self, other: Self | None) -> Self:
        """This one with those policies and actions of the other one that it lacks."""
        if other is None:
            return self
        return type(self)(
            target=self.target,
            policies=other.policies | self.policies,
            actions=other.actions | self.actions,
        )

    def to_json(self) -> str:
        """Times are written as ISO 8601, which the calls take as well."""
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """What `to_json` wrote."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        """Such as `1 to 4 instances, policies Gpu, Load, scheduled actions none`."""
        policies, actions = (", ".join(names) or "none" for names in (self.policies, self.actions))
        least, most = self.target["MinCapacity"], self.target["MaxCapacity"]
        return f"{least} to {most} instances, policies {policies}, scheduled actions {actions}"
