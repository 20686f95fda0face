"""The queries of one GetMetricData call: metrics and expressions that name each other by their ids."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from moto.cloudwatch.exceptions import ValidationError

from fleet_emulator.cloudwatch.expression import ExpressionError, Line, Value, evaluate
from fleet_emulator.cloudwatch.samples import is_statistic
from fleet_emulator.cloudwatch.search import SearchTerms
from fleet_emulator.cloudwatch.store import MINUTE, Metric, MetricStore

Query = Mapping[str, Any]

_DIMENSION = re.compile(r"\$\{PROP\('Dim\.([^']+)'\)\}")


class Queries:
    """Evaluates each query over the store between two times in Unix seconds."""

    def __init__(self, store: MetricStore, queries: Sequence[Query], *, start: float, end: float) -> None:
        self._store, self._start, self._end = store, start, end
        self._queries = {query["Id"]: query for query in queries}
        self._under_way: set[str] = set()

    def lines(self, query: Query) -> list[Line]:
        """The time series of one query, labelled.

        Raises:
            ValidationError: an expression that cannot be evaluated, or a statistic that there is not.
        """
        try:
            value = self._value(query)
        except ExpressionError as error:
            raise ValidationError(f"Error in expression '{query['Id']}': {error}") from error
        label = query.get("Label", "")
        if isinstance(value, Line):
            return [Line(value.points, label or value.label or query["Id"])]
        return [replace(line, label=_label(label, line)) for line in value]

    def line(self, id: str) -> Value:
        """What the query with that id comes to."""
        if id not in self._queries:
            raise ExpressionError(f"nothing has the id {id}")
        if id in self._under_way:
            raise ExpressionError(f"{id} refers to itself")
        self._under_way.add(id)
        try:
            return self._value(self._queries[id])
        finally:
            self._under_way.remove(id)

    def search(self, wanted: SearchTerms, statistic: str, period: int) -> list[Line]:
        """Every metric that fits."""
        found = [metric for metric in self._store.metrics() if wanted.fits(metric)]
        return [self._statistic(metric, statistic, period) for metric in found]

    def _value(self, query: Query) -> Line | list[Line]:
        if "Expression" in query:
            return evaluate(query["Expression"], self)
        wanted = query["MetricStat"]
        dimensions = {each["Name"]: each["Value"] for each in wanted["Metric"].get("Dimensions", [])}
        metric = Metric.of(wanted["Metric"]["Namespace"], wanted["Metric"]["MetricName"], dimensions)
        return self._statistic(metric, wanted["Stat"], int(wanted["Period"]), wanted.get("Unit"))

    def _statistic(self, metric: Metric, name: str, period: int, unit: str | None = None) -> Line:
        check_statistic(name, period)
        periods = self._store.periods(metric, period=period, start=self._start, end=self._end, unit=unit)
        values = {time: samples.statistic(name) for time, samples in periods.items()}
        label = " ".join([*(value for _, value in metric.dimensions), metric.name])
        points = {time: value for time, value in values.items() if value is not None}
        return Line(points, label, metric.dimensions)


def _label(label: str, line: Line) -> str:
    """What the legend calls one of several lines; `${PROP('Dim.NAME')}` stands for a dimension's value.

    Source: "Use dynamic labels", Amazon CloudWatch User Guide.
    """
    if not _DIMENSION.search(label):
        return f"{label} {line.label}".strip()
    return _DIMENSION.sub(lambda found: dict(line.dimensions).get(found[1], ""), label)


def check_statistic(name: str, period: int) -> None:
    """Refuse a statistic or a period that the embedded CloudWatch does not have.

    Raises:
        ValidationError: the statistic is unknown, or the period is not of whole minutes.
    """
    if not is_statistic(name):
        raise ValidationError(f"The embedded AWS does not know the statistic {name}")
    if period < MINUTE or period % MINUTE:
        raise ValidationError(f"Period must be a multiple of {MINUTE}, not {period}")
