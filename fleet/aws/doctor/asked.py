"""AWS asked by somebody who may perhaps not see everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

DENIED = ("AccessDenied", "AccessDeniedException")


@contextmanager
def unless_denied(service: str, missing: list[str]) -> Iterator[None]:
    """Ask a service; where that is denied, note the IAM action and go on.

    Raises:
        ClientError: it is refused for another reason.
    """
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIED:
            raise
        missing.append(f"{service}:{error.operation_name}")
