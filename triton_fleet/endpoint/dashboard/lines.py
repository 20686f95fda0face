"""The lines of a graph of SageMaker's metrics, and the values that they are to be compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.metrics import period, values
from triton_fleet.endpoint.dashboard.sections import RUNNING_INSTANCES, Expression, Graph, Line, Unit
from triton_fleet.endpoint.endpoint_parts import summed_parts
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint

COLOURS: Mapping[str, str] = {"critical": "#d62728", "warning": "#ff7f0e"}
SIGNS = {"above": ">", "below": "<", "at least": "≥"}
SCALING = "#7f7f7f"
_SEVEREST_FIRST = (COLOURS["critical"], COLOURS["warning"], SCALING)
TRACKING_STATISTICS = ("Average", "Sum")
"""Statistics that target tracking goes by."""


@dataclass(frozen=True)
class Annotation:
    """A horizontal line: its value in the graph's unit, what stands beside it, its colour as `#rrggbb`."""

    value: float
    label: str
    color: str


def horizontal(lines: Sequence[Line], unit: Unit, endpoint: ResolvedEndpoint) -> list[Annotation]:
    """All annotations of a graph with these lines; with several lines, each label has its line's name.

    Those of one value are one annotation, in the most severe of their colours: labels at one height would be
    printed over each other.
    """
    labels, colours = defaultdict[float, list[str]](list), defaultdict[float, list[str]](list)
    for line in lines:
        for value, text, colour in (
            *_counts(line, endpoint),
            *_targets(line, unit, endpoint),
            *_thresholds(line, unit, endpoint),
        ):
            labels[value].append(f"{line.label}: {text}" if len(lines) > 1 else text)
            colours[value].append(colour)
    return [
        Annotation(value, ", ".join(texts), min(colours[value], key=_SEVEREST_FIRST.index))
        for value, texts in labels.items()
    ]


def _thresholds(line: Line, unit: Unit, endpoint: ResolvedEndpoint) -> Iterator[tuple[float, str, str]]:
    for alarm in endpoint.alarms:
        is_shown = (alarm.measure, alarm.statistic) == (line.measure, line.statistic)
        if is_shown and not isnan(alarm.graph_threshold):
            text = f"{alarm.severity} {SIGNS[alarm.comparison]} {_amount(alarm.graph_threshold, unit)}"
            yield alarm.graph_threshold, text, COLOURS[alarm.severity]


def _targets(line: Line, unit: Unit, endpoint: ResolvedEndpoint) -> Iterator[tuple[float, str, str]]:
    for target in endpoint.scaling.targets if endpoint.scaling else ():
        if target.measure == line.measure and line.statistic in TRACKING_STATISTICS:
            value = target.value / summed_parts(target.measure, endpoint.instance)
            yield value, f"scaling target {_amount(value, unit)}", SCALING


def _counts(line: Line, endpoint: ResolvedEndpoint) -> Iterator[tuple[float, str, str]]:
    """How many instances there are to be."""
    if line != RUNNING_INSTANCES:
        return
    if endpoint.scaling is None:
        yield endpoint.spec.instance.count, f"desired {endpoint.spec.instance.count}", SCALING
        return
    scaling = endpoint.scaling
    ends: list[tuple[str, int | None]] = [("min", scaling.min), ("max", scaling.max)]
    for schedule in scaling.schedules:
        ends += [(f"{schedule.name}: min", schedule.min), (f"{schedule.name}: max", schedule.max)]
    for name, value in ends:
        if value is not None:
            yield value, f"{name} {value}", SCALING


def _amount(value: float, unit: Unit) -> str:
    number = f"{value:.3f}".rstrip("0").rstrip(".")
    return f"{number}{unit}" if unit in (Unit.COUNT, Unit.PERCENT) else f"{number} {unit}"


def held_lines(graph: Graph, endpoint: ResolvedEndpoint) -> list[Line | Expression]:
    """The lines of metrics that the endpoint has."""
    return [
        line
        for line in graph.lines
        if not any(
            endpoint.kinds.isdisjoint(endpoint_metric(source_line.measure).kinds)
            for source_line in (line.of if isinstance(line, Expression) else (line,))
        )
    ]


def drawn_lines(graph: Graph, endpoint: ResolvedEndpoint) -> list[list[Any]]:
    """The visible lines, with the hidden metrics that they are computed from."""
    return [
        entry
        for line in held_lines(graph, endpoint)
        for entry in (
            _expression_rows(line, endpoint)
            if isinstance(line, Expression)
            else _line(line, graph.unit, endpoint)
        )
    ]


def _line(line: Line, unit: Unit, endpoint: ResolvedEndpoint) -> list[list[Any]]:
    scale = _scale(line, unit, endpoint)
    if not scale and _samples_per_instance(line, endpoint) == 1:
        return [_metric(line, endpoint, label=line.label)]
    return _expression_rows(Expression(f"{line.id} {scale}".rstrip(), line.label, (line,)), endpoint)


def _expression_rows(line: Expression, endpoint: ResolvedEndpoint) -> list[list[Any]]:
    expression, seconds = (
        line.expression,
        max(period(source_line.measure, endpoint.spec.metrics) for source_line in line.of),
    )
    if (samples := max(_samples_per_instance(source_line, endpoint) for source_line in line.of)) > 1:
        expression = f"{expression} / {samples}"
    row = {"expression": expression, "label": line.label, "period": seconds}
    return [
        [row],
        *(_metric(source_line, endpoint, id=source_line.id, visible=False) for source_line in line.of),
    ]


def _metric(line: Line, endpoint: ResolvedEndpoint, **options: object) -> list[Any]:
    metric = endpoint_metric(line.measure)
    of_endpoint = {"EndpointName": endpoint.name, "VariantName": endpoint.variant}
    dimensions = [part for name in metric.dimensions for part in (name, of_endpoint[name])]
    return [
        metric.namespace,
        metric.name,
        *dimensions,
        {**options, "period": period(line.measure, endpoint.spec.metrics), "stat": line.statistic},
    ]


def _scale(line: Line, unit: Unit, endpoint: ResolvedEndpoint) -> str:
    """From the metric's own unit to the graph's; of what adds up over an instance's parts, that of one."""
    metric, parts = endpoint_metric(line.measure), summed_parts(line.measure, endpoint.instance)
    match unit, metric.unit:
        case Unit.MILLISECONDS, "Microseconds":
            return "/ 1000"
        case Unit.PERCENT, "None":
            return "* 100"
        case Unit.PERCENT, "Percent" if parts > 1:
            return f"/ {parts}"
    return ""


def _samples_per_instance(line: Line, endpoint: ResolvedEndpoint) -> int:
    """How many samples of a line stand for one instance."""
    return values(line.measure, endpoint.spec.metrics) if line.statistic == "SampleCount" else 1
