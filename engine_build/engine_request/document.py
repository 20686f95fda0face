"""Reads the document of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .problems import REFUSAL, BuildError

R = TypeVar("R")


def read_request(read: Callable[[bytes], R], document: bytes, remedy: str = "publish again") -> R:
    """The request of a document, as `read` returns it.

    Raises:
        BuildError: it is not a request, or of another version of this script.
    """
    try:
        return read(document)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"the script cannot read this request: {error}"
        raise BuildError(REFUSAL, message, remedy=remedy) from error
