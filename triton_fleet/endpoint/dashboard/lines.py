"""The lines of a graph of SageMaker's metrics, as a dashboard's body has them."""

from __future__ import annotations

from typing import Any

from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.metrics import period, values
from triton_fleet.endpoint.dashboard.graph import Expression, Graph, Line, Unit
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
from triton_fleet.endpoint.scaling import summed_parts


def held_lines(graph: Graph, endpoint: ResolvedEndpoint) -> list[Line | Expression]:
    """The lines of metrics that the endpoint has."""
    return [
        line
        for line in graph.lines
        if all(_has(endpoint, source_line) for source_line in _source_lines(line))
    ]


def drawn_lines(graph: Graph, endpoint: ResolvedEndpoint) -> list[list[Any]]:
    """What is shown, with the metrics that it is computed from, which are not."""
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
        max(period(each.measure, endpoint.spec.metrics) for each in line.of),
    )
    if (counted := max(_samples_per_instance(each, endpoint) for each in line.of)) > 1:
        expression = f"{expression} / {counted}"
    shown = {"expression": expression, "label": line.label, "period": seconds}
    return [[shown], *(_metric(each, endpoint, id=each.id, visible=False) for each in line.of)]


def _metric(line: Line, endpoint: ResolvedEndpoint, **options: object) -> list[Any]:
    metric = endpoint_metric(line.measure)
    of_endpoint = {"EndpointName": endpoint.name, "VariantName": VARIANT}
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


def _source_lines(line: Line | Expression) -> tuple[Line, ...]:
    return line.of if isinstance(line, Expression) else (line,)


def _has(endpoint: ResolvedEndpoint, line: Line) -> bool:
    return not endpoint.kinds.isdisjoint(endpoint_metric(line.measure).kinds)
