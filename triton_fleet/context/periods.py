"""Over which time a metric is read, which follows from how often it is published."""

from __future__ import annotations

from triton_fleet.catalog.metrics import utilization_measures
from triton_fleet.spec.monitoring import Metrics

PERIOD = 60
"""Seconds; SageMaker and the container publish metrics once a minute unless a spec sets another interval."""


def period(measure: str, metrics: Metrics) -> int:
    """Seconds in which each instance publishes a value of the measure, a minute at least."""
    return max(PERIOD, metrics.interval) if measure in utilization_measures() else PERIOD


def values(measure: str, metrics: Metrics) -> int:
    """How many values of the measure each instance publishes in such a period."""
    return period(measure, metrics) // metrics.interval if measure in utilization_measures() else 1
