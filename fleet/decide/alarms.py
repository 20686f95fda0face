"""What wakes somebody: each threshold of `alarms` with its metric and its severity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["warning", "critical"]
Rings: TypeAlias = Literal["above", "below", "at least"]
"""On which side of its threshold an alarm rings."""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One alarm for operators.

    Attributes:
        key: The key of `alarms` that it follows from, such as `latency_p99`.
        measure: The catalog's name of the metric.
        statistic: Of a minute, as CloudWatch spells it.
        threshold: What must not be exceeded, in the metric's own unit: microseconds, a share of 1, or percent
            added up over an instance's GPUs or vCPUs.
        drawn: The same as a graph shows it: milliseconds, or percent of one GPU or vCPU.
    """

    key: str
    severity: Severity
    measure: str
    statistic: str
    threshold: float
    drawn: float
    rings: Rings = "above"
