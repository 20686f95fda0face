"""Repeats calls that AWS refuses for a moment, while another client changes the same resource."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

PAUSE_SECONDS = (1, 2, 4, 8)
"""The pauses before each further attempt; boto3 does not repeat these calls."""
_FINAL = ("AccessDenied", "AccessDeniedException", "ValidationException")


def is_final(error: Exception) -> bool:
    """Whether AWS repeats this answer until somebody changes a permission or the request."""
    return isinstance(error, ClientError) and is_error(error, *_FINAL)


def is_error(error: ClientError, *codes: str) -> bool:
    """Whether AWS gave one of these codes."""
    return error.response["Error"]["Code"] in codes


def retry(call: Callable[..., Any], *codes: str, **arguments: Any) -> None:
    """Call, and repeat the call while the error is ConcurrentUpdateException or one of `codes`.

    Raises:
        ClientError: any other error, or the last one.
    """
    for seconds in PAUSE_SECONDS:
        try:
            call(**arguments)
        except ClientError as error:
            if not is_error(error, "ConcurrentUpdateException", *codes):
                raise
            time.sleep(seconds)
        else:
            return
    call(**arguments)
