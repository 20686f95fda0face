"""PutMetricData within its limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

METRICS_A_CALL = 1000
VALUES_A_METRIC = 150
"""Source: CloudWatch API reference, PutMetricData."""


def portions(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in their order, at most `size` at a time."""
    for first in range(0, len(items), size):
        yield items[first : first + size]
