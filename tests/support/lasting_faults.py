"""Faults of an AWS that befall one request of each kind, or all from a number on, without waits between."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import botocore.endpoint
import pytest

from tests.support.faulty_s3 import ALWAYS, Fault, FaultyS3, Request

RequestMatch = Callable[[Request], bool]
FAULTS: dict[str, Callable[[FaultyS3, RequestMatch], Fault]] = {
    "throttled": lambda proxy, expected_value: proxy.slow_down(expected_value, ALWAYS),
    "failed": lambda proxy, expected_value: proxy.fail(expected_value),
    "reset": lambda proxy, expected_value: proxy.reset(expected_value, ALWAYS),
    "done without an answer": lambda proxy, expected_value: proxy.lose_answer(expected_value, ALWAYS),
    "cut": lambda proxy, expected_value: proxy.cut(expected_value, ALWAYS),
}


def retry_without_pause(patch: pytest.MonkeyPatch) -> None:
    """Have botocore try again at once."""
    patch.setattr(
        botocore.endpoint, "time", SimpleNamespace(**{**vars(time), "sleep": lambda _seconds: None})
    )


def first_requests() -> RequestMatch:
    """Whether a request is the first one of its kind and address."""
    records = set[tuple[str, ...]]()

    def is_first(request: Request) -> bool:
        key = (request.method, request.path, request.headers.get("X-Amz-Target", ""))
        is_new = key not in records
        records.add(key)
        return is_new

    return is_first


def from_number(number: int) -> RequestMatch:
    """Whether as many requests have come before."""
    count = 0

    def is_late(_request: Request) -> bool:
        nonlocal count
        count += 1
        return count > number

    return is_late
