"""What the status of a CloudFormation stack means for a deploy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from triton_fleet.catalog.data_file import data_file


class StackState(StrEnum):
    """What a deploy does with a stack; data/stack_statuses.yaml explains each."""

    READY = "ready"
    UNDER_WAY = "under-way"
    PLANNED = "planned"
    NOT_CREATED = "not-created"
    STOPPED = "stopped"
    STUCK = "stuck"
    GONE = "gone"


@dataclass(frozen=True, kw_only=True)
class StackStatus:
    """The state, and what a person may do about it, with `{region}` and `{stack}` in it; "" if nothing."""

    state: StackState
    remedy: str


@cache
def stack_status(name: str) -> StackStatus:
    """What a status means; one that CloudFormation has got since counts by its ending."""
    data = data_file("stack_statuses.yaml")
    others = data["others"]
    found = data["statuses"].get(name) or others[next(ending for ending in others if name.endswith(ending))]
    return StackStatus(state=StackState(found["state"]), remedy=found.get("remedy", ""))
