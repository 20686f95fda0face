"""Counting one invocation as SageMaker's metrics do.

Source: SageMaker developer guide, monitoring-cloudwatch.md: latencies are in microseconds, ModelLatency is
the container's time and OverheadLatency the rest; each error metric gets a 0 or a 1, so that its average is
a rate.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from triton_fleet.local.containers import Record

_MICROSECONDS = 1e6


class Count:
    """What is known of one invocation so far; `status` is the caller's HTTP status, or the model's own."""

    def __init__(self) -> None:
        self.status = 200
        self.refused_by_model = False
        self.asked = False
        self.model_seconds = 0.0

    @contextmanager
    def model(self) -> Iterator[None]:
        """Count the time meanwhile as the model's."""
        self.asked, start = True, time.monotonic()
        try:
            yield
        finally:
            self.model_seconds += time.monotonic() - start

    def model_refused(self, status: int) -> None:
        """The container answered with that status, or with 0 not at all."""
        self.status, self.refused_by_model = 500 if status == 0 else status, True


@contextmanager
def count_invocation(record: Record) -> Iterator[Count]:
    """Count one invocation when it is over; a defect of the gateway counts as its error."""
    count, start = Count(), time.monotonic()
    try:
        yield count
    except BaseException:
        count.status = 500
        raise
    finally:
        seconds = time.monotonic() - start
        record("invocations", 1.0)
        record("invocations_per_instance", 1.0)  # one instance serves locally
        record("errors_4xx", float(count.status // 100 == 4))
        record("errors_5xx", float(count.status // 100 == 5))
        record("model_errors", float(count.refused_by_model))
        if count.asked:
            record("model_latency", count.model_seconds * _MICROSECONDS)
            record("overhead_latency", (seconds - count.model_seconds) * _MICROSECONDS)
