"""AWS asked by somebody who may perhaps not see everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from botocore.exceptions import ClientError

from fleet.aws.api.errors import DENIED

T = TypeVar("T")


def unless_denied(service: str, missing: list[str], ask: Callable[[], T]) -> T | None:
    """What a service answers; where that is denied, the IAM action is noted and it is None.

    Raises:
        ClientError: it is refused for another reason.
    """
    try:
        return ask()
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIED:
            raise
        missing.append(f"{service}:{error.operation_name}")
        return None
