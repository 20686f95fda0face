"""Metric math: the part that dashboards and alarms of this project use.

Source: "Using metric math", Amazon CloudWatch User Guide: a value that one of two series lacks counts as
0, and a point that would be divided by zero is dropped.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol, TypeAlias

from fleet_emulator.cloudwatch.search import SearchError, SearchTerms, read_search


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
