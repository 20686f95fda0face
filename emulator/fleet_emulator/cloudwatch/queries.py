"""The queries of GetMetricData: metrics, expressions of metric math, and SEARCH."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from moto.cloudwatch.exceptions import ValidationError

from fleet_emulator.cloudwatch.samples import MINUTE, Metric, MetricStore, is_statistic

_NAME = r'"([^"{}]+)"|([A-Za-z0-9_/]+)'
_SCHEMA = re.compile(r"\s*\{([^{}]*)\}")
_PART = re.compile(rf"\s*(?:{_NAME})\s*")
_TERM = re.compile(r'\s*([A-Za-z0-9_]+)="([^"]+)"')


class SearchError(Exception):
    """It is not supported here; the message states what is."""


@dataclass(frozen=True)
class SearchTerms:
    """What is searched for.

    Attributes:
        schema: The namespace and the names of all dimensions, in any order; None: any.
        terms: What `Namespace`, `MetricName` and dimensions are to be.
    """

    schema: tuple[str, frozenset[str]] | None
    terms: Mapping[str, str]

    def fits(self, metric: Metric) -> bool:
        """Whether a metric is found."""
        if self.schema not in (None, (metric.namespace, frozenset(name for name, _ in metric.dimensions))):
            return False
        named = {**dict(metric.dimensions), "Namespace": metric.namespace, "MetricName": metric.name}
        return self.terms.items() <= named.items()


def read_search(query: str) -> SearchTerms:
    """Read a search's first argument: a schema in braces, then exact matches.

    Raises:
        SearchError: it has anything else, such as words to be found anywhere.
    """
    schema = _SCHEMA.match(query)
    rest = query[schema.end() :] if schema else query
    terms = dict(_TERM.findall(rest))
    if _TERM.sub("", rest).strip() or not (schema or terms):
        raise SearchError(f'SEARCH finds {{Namespace,Dimension,...}} and NAME="..." here, not {query!r}')
    return SearchTerms(_names(schema[1], query) if schema else None, terms)


def _names(text: str, query: str) -> tuple[str, frozenset[str]]:
    parts = [_PART.fullmatch(part) for part in text.split(",")]
    names = [part[1] or part[2] for part in parts if part]
    if len(names) != len(parts):
        raise SearchError(f"{{{text}}} in {query!r} does not name a namespace and dimensions")
    return names[0], frozenset(names[1:])


@dataclass(frozen=True)
class Line:
    """A time series: its values by Unix seconds, what the legend calls it, and its metric's dimensions."""

    points: dict[int, float] = field(default_factory=dict)
    label: str = ""
    dimensions: tuple[tuple[str, str], ...] = ()


Value: TypeAlias = float | Line | list[Line]

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class ExpressionError(Exception):
    """The expression cannot be evaluated; the message names the part and the reason."""


class Data(Protocol):
    """What an expression may ask for."""

    def line(self, id: str) -> Value:
        """What has that id in the same request."""

    def search(self, wanted: SearchTerms, statistic: str, period: int) -> list[Line]:
        """Every metric that fits."""


def evaluate(expression: str, data: Data) -> Line | list[Line]:
    """The time series that an expression means.

    Raises:
        ExpressionError: it is not an expression, uses what is not supported here, or evaluates to a number.
    """
    try:
        # Metric math is close enough to Python's own expressions to be read by the same grammar.
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{expression!r} is not an expression") from error
    value = _value(tree.body, data)
    if isinstance(value, float):
        raise ExpressionError(f"{expression!r} evaluates to a number, not to a time series")
    return value


def _value(node: ast.expr, data: Data) -> Value:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            return data.line(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _arithmetic(operator.mul, -1.0, _value(operand, data))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _arithmetic(_OPERATORS[type(op)], _value(left, data), _value(right, data))
        case ast.Call(func=ast.Name(id="SUM"), args=[summed], keywords=[]):
            return _sum(_value(summed, data))
        case ast.Call(func=ast.Name(id="DIFF"), args=[changing], keywords=[]):
            return _differences(_value(changing, data))
        case ast.Call(func=ast.Name(id="SEARCH"), args=[query, statistic, period], keywords=[]):
            return _search(query, statistic, period, data)
        case ast.Call(func=ast.Name(id=function)) if function not in ("SUM", "DIFF", "SEARCH"):
            raise ExpressionError(f"the function {function} is not known here; SUM, DIFF and SEARCH are")
    raise ExpressionError(f"{ast.unparse(node)!r} is not understood here")


def _arithmetic(operation: Callable[[float, float], float], left: Value, right: Value) -> Value:
    match left, right:
        case list(), list():
            raise ExpressionError("two arrays of time series cannot be combined: SUM one of them")
        case list(), float() | Line():
            return [replace(each, points=_points(operation, each, right)) for each in left]
        case float() | Line(), list():
            return [replace(each, points=_points(operation, left, each)) for each in right]
        case float(), float():
            try:
                return operation(left, right)
            except ZeroDivisionError as error:
                raise ExpressionError(f"the number {left:g} is divided by zero") from error
        case float() | Line(), float() | Line():
            return Line(_points(operation, left, right))
    raise AssertionError


def _points(
    operation: Callable[[float, float], float], left: float | Line, right: float | Line
) -> dict[int, float]:
    times = {time for value in (left, right) if isinstance(value, Line) for time in value.points}
    points = {}
    for time in sorted(times):
        with suppress(ZeroDivisionError):
            points[time] = operation(_at(left, time), _at(right, time))
    return points


def _at(value: float | Line, time: int) -> float:
    return value if isinstance(value, float) else value.points.get(time, 0.0)


def _sum(value: Value) -> Value:
    match value:
        case Line():
            return math.fsum(value.points.values())
        case list():
            times = sorted({time for line in value for time in line.points})
            return Line({time: math.fsum(_at(line, time) for line in value) for time in times})
    raise ExpressionError(f"SUM adds time series, not the number {value:g}")


def _differences(value: Value) -> Value:
    """Each value without the one before it, however long before; the first has none."""
    match value:
        case Line():
            return Line(_changes(value))
        case list():
            return [replace(each, points=_changes(each)) for each in value]
    raise ExpressionError(f"DIFF is of time series, not of the number {value:g}")


def _changes(line: Line) -> dict[int, float]:
    points = pairwise(sorted(line.points.items()))
    return {time: now - before for (_, before), (time, now) in points}


def _search(query: ast.expr, statistic: ast.expr, period: ast.expr, data: Data) -> list[Line]:
    match query, statistic, period:
        case ast.Constant(value=str(text)), ast.Constant(value=str(name)), ast.Constant(value=int(seconds)):
            return data.search(_read(text), name, seconds)
    raise ExpressionError("SEARCH takes a query and a statistic in quotes, and a period in seconds")


def _read(query: str) -> SearchTerms:
    try:
        return read_search(query)
    except SearchError as error:
        raise ExpressionError(str(error)) from error


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
