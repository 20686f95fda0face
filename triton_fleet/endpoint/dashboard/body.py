"""A dashboard's body, as CloudWatch reads it.

Source: "Dashboard body structure and syntax", Amazon CloudWatch API reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from triton_fleet.catalog.metrics import triton_series
from triton_fleet.context.metrics import TritonMetrics, container_log_group
from triton_fleet.endpoint.dashboard.lines import Annotation, drawn_lines, held_lines, horizontal
from triton_fleet.endpoint.dashboard.log_queries import last_errors
from triton_fleet.endpoint.dashboard.sections import SECTIONS, Graph, Line, TritonGraph
from triton_fleet.endpoint.dashboard.triton import TITLE, TRITON_GRAPHS, triton_lines, triton_text
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint

Json: TypeAlias = dict[str, Any]

COLUMNS, GRAPH, TEXT_HEIGHT, LOG = 24, 6, 2, 8
"""Columns of the grid; heights of a graph, a heading and a table of log lines."""


@dataclass(frozen=True)
class SectionBody:
    """A section with all that an endpoint has of it; `graphs` are the properties of their widgets."""

    title: str
    text: str
    graphs: Sequence[Json]


def dashboard_body(endpoint: ResolvedEndpoint) -> Json:
    """Sections of graphs under their headings, and the last errors in the log."""
    widgets, y = list[Json](), 0
    for section in _sections(endpoint):
        text = {"markdown": f"## {section.title}\n{section.text}"}
        widgets.append(_widget("text", text, y=y, height=TEXT_HEIGHT))
        y += TEXT_HEIGHT
        columns = 3 if len(section.graphs) % 3 == 0 else 2
        width = COLUMNS // columns
        for number, graph in enumerate(section.graphs):
            position = {"x": number % columns * width, "y": y + number // columns * GRAPH}
            widgets.append(_widget("metric", graph, **position, width=width, height=GRAPH))
        y += -(-len(section.graphs) // columns) * GRAPH
    widgets.append(_widget("log", _last_errors(endpoint), y=y, height=LOG))
    # What counts by its own period, a minute as a rule, would be wrong in the longer ones of a longer range.
    return {"start": "-PT3H", "periodOverride": "inherit", "widgets": widgets}


def _sections(endpoint: ResolvedEndpoint) -> Iterator[SectionBody]:
    for section in SECTIONS:
        if graphs := [_graph(graph, endpoint) for graph in section.graphs if held_lines(graph, endpoint)]:
            text = f"{section.text}{refused_calls(endpoint)}" if section is SECTIONS[0] else section.text
            yield SectionBody(section.title, text, graphs)
    if metrics := endpoint.triton_metrics:
        yield SectionBody(
            TITLE,
            triton_text(endpoint, metrics),
            [_triton_graph(graph, endpoint, metrics) for graph in TRITON_GRAPHS if _has(endpoint, graph)],
        )


def refused_calls(endpoint: ResolvedEndpoint) -> str:
    """A sentence on the calls of the deployment check that a model must refuse; empty without any."""
    count = sum(sample.status // 100 == 4 for sample in endpoint.spec.samples) + len(endpoint.check.warm)
    if not count:
        return ""
    calls = "1 call" if count == 1 else f"{count} calls"
    return (
        f" The check at the end of a deploy makes {calls} that a model must refuse: SageMaker counts each"
        " attempt as 4XX and model."
    )


def _has(endpoint: ResolvedEndpoint, graph: TritonGraph) -> bool:
    return not any(endpoint.kinds.isdisjoint(triton_series(measure).kinds) for measure in graph.measures)


def _graph(graph: Graph, endpoint: ResolvedEndpoint) -> Json:
    lines = [line for line in held_lines(graph, endpoint) if isinstance(line, Line)]
    annotations = horizontal(lines, graph.unit, endpoint)
    return _properties(graph.title, drawn_lines(graph, endpoint), annotations, graph.minimum, endpoint)


def _triton_graph(graph: TritonGraph, endpoint: ResolvedEndpoint, metrics: TritonMetrics) -> Json:
    lines = [Line(graph.over, graph.statistic)] if graph.under is None else []
    annotations = horizontal(lines, graph.unit, endpoint)
    return _properties(graph.title, triton_lines(graph, endpoint, metrics), annotations, 0, endpoint)


def _properties(
    title: str,
    lines: Sequence[Sequence[Any]],
    annotations: Sequence[Annotation],
    minimum: float | None,
    endpoint: ResolvedEndpoint,
) -> Json:
    ends = {} if minimum is None else {"min": minimum}
    return {
        "view": "timeSeries",
        "title": title,
        "region": endpoint.deployment.region,
        "metrics": lines,
        "yAxis": {"left": {**ends, "showUnits": False}},
        **(
            {"annotations": {"horizontal": [asdict(annotation) for annotation in annotations]}}
            if annotations
            else {}
        ),
    }


def _last_errors(endpoint: ResolvedEndpoint) -> Json:
    query = last_errors(endpoint.spec.mode)
    return {
        "title": query.name,
        "region": endpoint.deployment.region,
        "query": f"SOURCE '{container_log_group(endpoint.name)}' | {query.text}",
        "view": "table",
    }


def _widget(type: str, properties: Json, *, y: int, height: int, x: int = 0, width: int = COLUMNS) -> Json:
    return {"type": type, "x": x, "y": y, "width": width, "height": height, "properties": properties}
