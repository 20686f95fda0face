"""A machine whose clock has jumped: what a module reads as the time is shifted, and nothing else."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from types import ModuleType, SimpleNamespace

import botocore.auth
import pytest

JUMPS = [
    pytest.param(
        timedelta(hours=hours), id=f"{hours:+}h", marks=() if hours in {-1, 8760} else pytest.mark.nightly
    )
    for hours in (1, -1, 8760, -8760)
]
"""An hour and a year, forwards and backwards; by day an hour backwards and a year forwards."""


def jump(monkeypatch: pytest.MonkeyPatch, module: ModuleType, by: timedelta) -> None:
    """Shift the wall clock that a module reads; its monotonic clock goes on as any does."""

    class ShiftedClock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + by

    namespace = SimpleNamespace(**vars(time))
    namespace.time = lambda: time.time() + by.total_seconds()
    monkeypatch.setattr(module, "datetime", ShiftedClock, raising=False)
    monkeypatch.setattr(module, "time", namespace, raising=False)


def later(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, by: timedelta, *, wall: timedelta = timedelta()
) -> None:
    """Shift both clocks that a module reads, as time does; the wall clock may have jumped besides."""
    jump(monkeypatch, module, by + wall)
    monotonic = time.monotonic
    module.time.monotonic = lambda: monotonic() + by.total_seconds()


def client_clock(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Shift the clock by which boto3 dates what it signs."""
    monkeypatch.setattr(
        botocore.auth,
        "get_current_datetime",
        lambda remove_tzinfo=True: (datetime.now(UTC) + by).replace(tzinfo=None if remove_tzinfo else UTC),
    )
