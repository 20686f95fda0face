"""Registers the scaling of a backup again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from .retry import is_error, is_final, retry
from .scaling import Arguments, Scaling

_UNKNOWN_TARGET = "ObjectNotFoundException"
"""The error of a target for a moment after it was registered (source: API reference)."""


class RestoreProblems(NamedTuple):
    """The parts that could not be restored, a sentence on each.

    Attributes:
        expiries: scheduled actions that are refused because their time has passed.
        refusals: all other refusals.
        delays: parts that AWS may accept a little later.
    """

    expiries: list[str]
    refusals: list[str]
    delays: list[str]


def restore(
    autoscaling: Any, backup: Scaling, current: Scaling, *, exclusions: frozenset[str] = frozenset()
) -> RestoreProblems:
    """Put the parts of a backup that a registered target lacks, except for the `exclusions` among policies.

    Parts that somebody has put since stay as they are.
    """
    problems = RestoreProblems([], [], [])
    for name in sorted(backup.policies.keys() - current.policies.keys() - exclusions):
        if error := _refusal(autoscaling.put_scaling_policy, backup.policies[name]):
            kind = problems.refusals if is_final(error) else problems.delays
            kind.append(f"Policy {name} could not be restored: {error}.")
    for name in sorted(backup.actions.keys() - current.actions.keys()):
        if error := _action_refusal(autoscaling.put_scheduled_action, backup.actions[name]):
            is_over = is_error(error, "ValidationException")
            kind = problems.expiries if is_over else problems.refusals if is_final(error) else problems.delays
            kind.append(f"Scheduled action {name} could not be restored: {error}.")
    return problems


def _action_refusal(put: Callable[..., Any], action: Arguments) -> ClientError | None:
    """Put the action; if it is refused and its start has passed, put it without the start."""
    error = _refusal(put, action)
    if error is None or "StartTime" not in action:
        return error
    if datetime.fromisoformat(action["StartTime"]) > datetime.now(UTC):
        return error
    return _refusal(put, {key: value for key, value in action.items() if key != "StartTime"})


def _refusal(put: Callable[..., Any], arguments: Arguments) -> ClientError | None:
    try:
        retry(put, _UNKNOWN_TARGET, **arguments)
    except ClientError as error:
        return error
    print(f"Put {arguments}")
    return None
