"""The stack that asks: what its status says."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .errors import NotYet


def stack_status(cloudformation: Any, stack_id: str, *, is_last: bool) -> str:
    """The stack's status; empty, so that it is taken to go forward, if it could not be asked in time.

    Raises:
        NotYet: it cannot be asked at the moment.
    """
    try:
        answer = cloudformation.describe_stacks(StackName=stack_id)
    except (BotoCoreError, ClientError) as error:
        told = f"the stack cannot be asked whether it rolls back: {error}"
        if not is_last:
            raise NotYet(told) from error
        print(f"Given up: {told}")
        return ""
    return str(answer["Stacks"][0]["StackStatus"])


def is_rollback(status: str) -> bool:
    """Whether a stack of this status rolls back, or cleans up after that."""
    return "ROLLBACK" in status
