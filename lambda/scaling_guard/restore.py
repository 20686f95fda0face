"""Registering a saved scaling again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from .registered import resource_id
from .retried import is_error, retried
from .scaling import Arguments, Scaling
from .variant import Variant

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


def restore(autoscaling: Any, saved: Scaling, now: Scaling | None, variant: Variant) -> Missing:
    """Make what is missing of a saved scaling; what somebody has made since stays as it is.

    Raises:
        ClientError: the variant cannot be registered.
    """
    if now is None:
        retried(autoscaling.register_scalable_target, **saved.target)
        print(f"Registered {resource_id(variant)}")
        now = Scaling(target=saved.target)
    missing = Missing([], [])
    for name in [name for name in saved.policies if name not in now.policies]:
        if error := _refusal(autoscaling.put_scaling_policy, saved.policies[name]):
            missing.failed.append(f"Policy {name} could not be restored: {error}.")
    for name in [name for name in saved.actions if name not in now.actions]:
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
