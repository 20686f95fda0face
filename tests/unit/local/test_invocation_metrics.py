"""One invocation, counted as SageMaker's metrics count it."""

from __future__ import annotations

import time
from itertools import count as numbers

import pytest

from triton_fleet.local.gateway import count_invocation


@pytest.fixture
def recorded_metrics(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Values by measure; each look at the clock is one second after the last."""
    ticks = numbers()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    return {}


def test_the_overhead_is_the_time_without_the_models(recorded_metrics: dict[str, float]) -> None:
    with count_invocation(recorded_metrics.__setitem__) as count:
        with count.model():
            pass
        with count.model():
            pass
    assert recorded_metrics["model_latency"] == 2e6
    assert recorded_metrics["overhead_latency"] == 3e6


def test_a_call_that_never_reached_the_model_has_no_latency(recorded_metrics: dict[str, float]) -> None:
    with count_invocation(recorded_metrics.__setitem__) as count:
        count.status = 400
    assert "model_latency" not in recorded_metrics
    assert (recorded_metrics["errors_4xx"], recorded_metrics["model_errors"]) == (1.0, 0.0)


def test_a_defect_counts_as_an_error_of_the_server(recorded_metrics: dict[str, float]) -> None:
    with pytest.raises(RuntimeError), count_invocation(recorded_metrics.__setitem__):
        raise RuntimeError("defect")
    assert (recorded_metrics["invocations"], recorded_metrics["errors_5xx"]) == (1.0, 1.0)
