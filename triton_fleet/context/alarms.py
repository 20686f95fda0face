"""The alarms: each threshold of `alarms` with its metric and its severity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from triton_fleet.context.periods import PERIOD
from triton_fleet.spec.alarms import AlarmSeverity

Rings: TypeAlias = Literal["above", "below", "at least"]
"""On which side of its threshold an alarm fires."""
Missing: TypeAlias = Literal["notBreaching", "missing"]
"""What a period without data is, as CloudWatch spells it: not a breach, or no evidence."""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One alarm for operators.

    Attributes:
        key: The key of `alarms` that it follows from, such as `latency_p99`.
        measure: The catalog's name of the metric.
        statistic: The statistic of a period, as CloudWatch spells it.
        threshold: What must not be exceeded, in the metric's own unit: microseconds, a share of 1, or percent
            added up over an instance's GPUs or vCPUs.
        drawn: The same as a graph shows it: milliseconds, or percent of one GPU or vCPU.
        calls: Minutes with fewer calls do not count; 0 where all do.
        period: Seconds.
        periods: The number of periods in the alarm's window.
        datapoints: The number of those in which the threshold must be breached.
        text: The alarm's description.
        query: In Metrics Insights, where the metric's dimensions are not known; else empty.
    """

    key: str
    severity: AlarmSeverity
    measure: str
    statistic: str
    threshold: float
    drawn: float
    rings: Rings = "above"
    calls: int = 0
    period: int = PERIOD
    periods: int = 5
    datapoints: int = 3
    missing: Missing = "notBreaching"
    text: str = ""
    query: str = ""
