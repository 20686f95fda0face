"""What a dashboard is made of: sections of graphs, graphs of lines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What an axis counts in."""

    COUNT = ""
    MILLISECONDS = "ms"
    PERCENT = "%"
    WATTS = "W"


@dataclass(frozen=True)
class Line:
    """One line of a graph: the catalog's measure, a statistic, what the legend calls it."""

    measure: str
    statistic: str
    label: str = ""

    @property
    def id(self) -> str:
        """By what an expression of the same graph names it."""
        return f"{self.measure}_{self.statistic}"


@dataclass(frozen=True)
class Expression:
    """One line that is an expression over the ids of other lines, which are not shown."""

    expression: str
    label: str
    of: tuple[Line, ...]


@dataclass(frozen=True)
class Graph:
    """One graph of SageMaker's metrics, in its unit; the axis begins at `least`, or by its values."""

    title: str
    lines: tuple[Line | Expression, ...]
    unit: Unit = Unit.COUNT
    least: float | None = 0


@dataclass(frozen=True)
class TritonGraph:
    """One graph of Triton's own metrics: `over` as it is, a line for each series, or its quotient by `under`.

    The statistic is `Sum` for counters, taken to be published as differences; `scale` leads from the metric's
    unit to the graph's.
    """

    title: str
    over: str
    under: str | None = None
    statistic: str = "Sum"
    unit: Unit = Unit.COUNT
    scale: str = ""

    @property
    def measures(self) -> tuple[str, ...]:
        """All that it is drawn from."""
        return (self.over,) if self.under is None else (self.over, self.under)


@dataclass(frozen=True)
class Section:
    """Graphs of SageMaker's metrics under one heading, with what it takes to read them."""

    title: str
    text: str
    graphs: tuple[Graph, ...]
