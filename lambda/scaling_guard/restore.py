"""Registering a saved scaling again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from .retried import is_error, retried
from .scaling import Arguments, Scaling

_NOT_YET_SEEN = "ObjectNotFoundException"
"""What a target may be for a moment after it was registered (source: API reference)."""


class Missing(NamedTuple):
    """What is not registered again, a sentence on each.

    Attributes:
        over: scheduled actions that are refused, as when their time has passed.
        failed: everything else.
    """

    over: list[str]
    failed: list[str]


def restore(
    autoscaling: Any, saved: Scaling, now: Scaling, *, skipped: frozenset[str] = frozenset()
) -> Missing:
    """Make what a registered target lacks of a saved scaling, except for the skipped policies.

    What somebody has made since stays as it is.
    """
    missing = Missing([], [])
    for name in sorted(saved.policies.keys() - now.policies.keys() - skipped):
        if error := _refusal(autoscaling.put_scaling_policy, saved.policies[name]):
            missing.failed.append(f"Policy {name} could not be restored: {error}.")
    for name in sorted(saved.actions.keys() - now.actions.keys()):
        if error := _refused_action(autoscaling.put_scheduled_action, saved.actions[name]):
            kind = missing.over if is_error(error, "ValidationException") else missing.failed
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
