"""Registering a saved scaling again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from .retried import is_error, is_final, retried
from .scaling import Arguments, Scaling

_NOT_YET_SEEN = "ObjectNotFoundException"
"""The error of a target for a moment after it was registered (source: API reference)."""


class Missing(NamedTuple):
    """The parts that are not registered again, a sentence on each.

    Attributes:
        over: scheduled actions that are refused, as when their time has passed.
        failed: what else is refused.
        passing: what AWS may take a little later.
    """

    over: list[str]
    failed: list[str]
    passing: list[str]


def restore(
    autoscaling: Any, saved: Scaling, now: Scaling, *, skipped: frozenset[str] = frozenset()
) -> Missing:
    """Make what a registered target lacks of a saved scaling, except for the skipped policies.

    What somebody has made since stays as it is.
    """
    missing = Missing([], [], [])
    for name in sorted(saved.policies.keys() - now.policies.keys() - skipped):
        if error := _refusal(autoscaling.put_scaling_policy, saved.policies[name]):
            kind = missing.failed if is_final(error) else missing.passing
            kind.append(f"Policy {name} could not be restored: {error}.")
    for name in sorted(saved.actions.keys() - now.actions.keys()):
        if error := _refused_action(autoscaling.put_scheduled_action, saved.actions[name]):
            is_over = is_error(error, "ValidationException")
            kind = missing.over if is_over else missing.failed if is_final(error) else missing.passing
            kind.append(f"Scheduled action {name} could not be restored: {error}.")
    return missing


def _refused_action(put: Callable[..., Any], action: Arguments) -> ClientError | None:
    """Put the action; a start that has passed says nothing any more when it is refused."""
    error = _refusal(put, action)
    if error is None or "StartTime" not in action:
        return error
    if datetime.fromisoformat(action["StartTime"]) > datetime.now(UTC):
        return error
    return _refusal(put, {key: value for key, value in action.items() if key != "StartTime"})


def _refusal(put: Callable[..., Any], arguments: Arguments) -> ClientError | None:
    try:
        retried(put, _NOT_YET_SEEN, **arguments)
    except ClientError as error:
        return error
    print(f"Put {arguments}")
    return None
