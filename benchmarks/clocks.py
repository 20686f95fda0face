"""Seconds of the parts of a benchmark: by the wall, of the processor, and of these outside of the kernel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


class Parts:
    """Seconds of each part, of this process and those it has started."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        begin = _clocks()
        yield
        self.seconds[name] = {clock: now - begin[clock] for clock, now in _clocks().items()}


def _clocks() -> dict[str, float]:
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    times = [process.cpu_times() for process in processes]
    user = sum(each.user for each in times)
    return {
        "wall": time.perf_counter(),
        "processor": user + sum(each.system for each in times),
        "user": user,
    }
