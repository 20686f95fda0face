"""CloudFormation: what the status of a stack means, what an account needs, and which types drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from triton_fleet.catalog.data_file import data_file


class StackState(StrEnum):
    """States of a stack as a deploy treats them; data/stack_statuses.yaml explains each."""

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
    """The meaning of a status; one that CloudFormation has got since counts by its ending."""
    data = data_file("stack_statuses.yaml")
    by_suffix = data["others"]
    facts = data["statuses"].get(name) or by_suffix[next(end for end in by_suffix if name.endswith(end))]
    return StackStatus(state=StackState(facts["state"]), remedy=facts.get("remedy", ""))


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """The oldest version that is sufficient, and the parameter that has an account's version."""

    parameter: str
    version: int


def needed_bootstrap() -> Bootstrap:
    """The bootstrap that the stacks of every environment need."""
    data = data_file("bootstrap.yaml")
    return Bootstrap(parameter=data["parameter"], version=data["version"])


def detected_types() -> Mapping[str, tuple[str, ...]]:
    """The IAM actions that CloudFormation performs with its caller's rights, by resource type."""
    return {type: tuple(actions) for type, actions in data_file("drift.yaml")["detected"].items()}
