"""All metrics of one account and region, by minute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fleet_emulator.cloudwatch.samples import Samples

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
