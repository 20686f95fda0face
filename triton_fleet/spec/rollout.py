"""How a new configuration takes over from the old one, and what rolls it back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from triton_fleet.spec.values import Document, Seconds, Share

AlarmName = Literal["errors", "latency"]


class Strategy(StrEnum):
    """In which steps calls move to the new instances."""

    ALL_AT_ONCE = "all-at-once"
    CANARY = "canary"
    LINEAR = "linear"
    ROLLING = "rolling"


class Rollout(Document):
    """How an update of a serving endpoint is rolled out."""

    strategy: Annotated[Strategy, Field(strict=False)] = Strategy.ALL_AT_ONCE
    """`all-at-once`, `canary` and `linear` start a second fleet; `rolling` replaces instances in batches."""
    canary: Share | None = None
    """Strategy `canary`: the share of instances to move first, at most 50%."""
    step: Share | None = None
    """Strategies `linear` (10% to 50%) and `rolling` (5% to 50%): the share to move at a time."""
    bake: Annotated[Seconds, Field(ge=0, le=3600)] = 600
    """How long to watch the alarms after each step, at most 1h."""
    termination_wait: Annotated[Seconds, Field(ge=0, le=3600)] = 0
    """How long to keep the old fleet after the last step, at most 1h; not with `rolling`."""
    timeout: Annotated[Seconds, Field(ge=600, le=28800)] | None = None
    """Time-out of the whole rollout, 10m to 8h; default: what its waits need."""
    rollback_on: tuple[AlarmName, ...] | None = Field(default=None, strict=False)
    """What rolls back the deployment, at the thresholds of `alarms`; default: `errors`, and `latency` if
    `alarms` has a threshold for it. `[]` turns rollbacks off, for emergencies."""
