"""Calls that AWS refuses for a moment, as somebody else changes the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

SECONDS = (1, 2, 4, 8)
"""The pauses before each further try; boto3 does not repeat these calls by itself."""


_FINAL = ("AccessDenied", "AccessDeniedException", "ValidationException")


def is_final(error: Exception) -> bool:
    """Whether AWS gives this answer again until somebody changes a permission, or what is asked."""
    return isinstance(error, ClientError) and is_error(error, *_FINAL)


def is_error(error: ClientError, *codes: str) -> bool:
    """Whether AWS gave one of these codes."""
    return error.response["Error"]["Code"] in codes


def retried(call: Callable[..., Any], *passing: str, **arguments: Any) -> None:
    """Call, again and again while the error is ConcurrentUpdateException or one of `passing`.

    Raises:
        ClientError: any other error, or the last one.
    """
    for seconds in SECONDS:
        try:
            call(**arguments)
        except ClientError as error:
            if not is_error(error, "ConcurrentUpdateException", *passing):
                raise
            time.sleep(seconds)
        else:
            return
    call(**arguments)
