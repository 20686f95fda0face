"""Samples of metrics, and their store."""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

STATISTICS = ("SampleCount", "Sum", "Average", "Minimum", "Maximum")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?|100)")


def is_statistic(name: str) -> bool:
    """Whether the statistic is known: one of STATISTICS, or a percentile such as `p50` or `p99.9`."""
    return name in STATISTICS or _PERCENTILE.fullmatch(name) is not None


@dataclass(frozen=True)
class StatisticSet:
    """Values of which only the sum is known, with the smallest, the largest and their number."""

    sample_count: float
    sum: float
    minimum: float
    maximum: float


class Samples:
    """Values, each with how often it occurred; flat arrays, as a load test brings millions of them."""

    def __init__(self) -> None:
        self._values, self._counts = array("d"), array("d")
        self._sets: list[StatisticSet] = []

    def add(self, values: Iterable[float], counts: Iterable[float]) -> None:
        """Add values with their counts."""
        self._values.extend(values)
        self._counts.extend(counts)

    def add_set(self, values: StatisticSet) -> None:
        """Add values that were summed up already; where all are equal, they are known."""
        if values.minimum == values.maximum:
            self.add([values.minimum], [values.sample_count])
        else:
            self._sets.append(values)

    @staticmethod
    def merged(parts: Iterable[Samples]) -> Samples:
        """All of them as one."""
        merged = Samples()
        for part in parts:
            merged.add(part._values, part._counts)
            merged._sets += part._sets
        return merged

    def statistic(self, name: str) -> float | None:
        """A statistic of all values; None for a percentile where not all values are known.

        A percentile is the smallest value that this share of the values does not exceed. (CloudWatch's own
        is an estimate; which one is not documented.)

        Raises:
            ValueError: no such statistic.
        """
        match name:
            case "SampleCount":
                return self._count()
            case "Sum":
                return self._sum()
            case "Average":
                return self._sum() / self._count()
            case "Minimum":
                return min([*self._values, *(each.minimum for each in self._sets)])
            case "Maximum":
                return max([*self._values, *(each.maximum for each in self._sets)])
        share = _PERCENTILE.fullmatch(name)
        if share is None:
            raise ValueError(f"there is no statistic {name}")
        return None if self._sets else self._percentile(float(share[1]) / 100)

    def _count(self) -> float:
        return math.fsum(self._counts) + math.fsum(each.sample_count for each in self._sets)

    def _sum(self) -> float:
        single = (value * count for value, count in zip(self._values, self._counts, strict=True))
        return math.fsum(single) + math.fsum(each.sum for each in self._sets)

    def _percentile(self, share: float) -> float:
        ranked = sorted(zip(self._values, self._counts, strict=True))
        # Rounded: 0.9 * 10 must not reach beyond the ninth value.
        rank = round(share * self._count(), 9)
        below = accumulate(count for _, count in ranked)
        return next(value for (value, _), reached in zip(ranked, below, strict=True) if reached >= rank)


MINUTE = 60
"""Seconds that CloudWatch keeps together in metrics of standard resolution."""


@dataclass(frozen=True)
class Metric:
    """The identity of a metric; the dimensions are in order of their names."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]

    @staticmethod
    def of(namespace: str, name: str, dimensions: Mapping[str, str]) -> Metric:
        """A metric with dimensions in any order."""
        return Metric(namespace, name, tuple(sorted(dimensions.items())))


class MetricStore:
    """Samples of each metric and unit; times are Unix seconds."""

    def __init__(self) -> None:
        self._minutes: dict[Metric, dict[str, dict[int, Samples]]] = {}

    def minute(self, metric: Metric, unit: str, time: float) -> Samples:
        """The samples of the minute that contains `time`, to be added to."""
        minutes = self._minutes.setdefault(metric, {}).setdefault(unit, {})
        return minutes.setdefault(int(time) // MINUTE * MINUTE, Samples())

    def metrics(self) -> Iterator[Metric]:
        """Every metric, in the order in which they came."""
        return iter(self._minutes)

    def units(self, metric: Metric) -> list[str]:
        """The units in which a metric came."""
        return list(self._minutes.get(metric, {}))

    def periods(
        self, metric: Metric, *, period: int, start: float, end: float, unit: str | None = None
    ) -> dict[int, Samples]:
        """The periods that have samples, by their beginning; of all units where none is given.

        The first is the one that contains `start`; all begin before `end`.
        """
        first = int(start) // period * period
        found: defaultdict[int, list[Samples]] = defaultdict(list)
        for each, minutes in self._minutes.get(metric, {}).items():
            if unit is None or each == unit:
                for minute, samples in minutes.items():
                    beginning = minute // period * period
                    if first <= beginning < end:
                        found[beginning].append(samples)
        return {
            beginning: parts[0] if len(parts) == 1 else Samples.merged(parts)
            for beginning, parts in sorted(found.items())
        }
