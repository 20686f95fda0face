"""A dashboard's body: graphs with the queries of their lines, texts, and questions to the log.

Source: "Dashboard body structure and syntax", Amazon CloudWatch API reference. What is not drawn here is
refused by its name, so that no page leaves something out in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from botocore.exceptions import ClientError

from triton_fleet.catalog.metrics import never_local
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef

_WIDGET = {"type", "x", "y", "width", "height", "properties"}
_PROPERTIES = {"view", "title", "region", "metrics", "yAxis", "annotations"}
_ANNOTATION = {"value", "label", "color"}
_USUAL = "#4b5563"
"""Of an annotation without a colour."""
_OPTIONS = {"id", "label", "expression", "period", "stat", "visible"}


@dataclass(frozen=True)
class Box:
    """The place of a widget, in cells of the dashboard's grid of 24 columns."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Query:
    """One entry of a graph: its id there, what the legend calls it, its period in seconds, what is asked."""

    id: str
    label: str
    period: int
    visible: bool
    data: MetricDataQueryTypeDef


@dataclass(frozen=True)
class Annotation:
    """A horizontal line at a value; its colour as `#rrggbb`."""

    value: float
    label: str
    colour: str


@dataclass(frozen=True)
class Graph:
    """One graph; an end of its axis is None where the values decide."""

    title: str
    box: Box
    minimum: float | None
    maximum: float | None
    queries: tuple[Query, ...]
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True)
class Text:
    """A text in Markdown."""

    box: Box
    markdown: str


@dataclass(frozen=True)
class LogTable:
    """A table of the log lines that a query finds."""

    title: str
    box: Box


Widget: TypeAlias = Graph | Text | LogTable


def read_body(body: str) -> list[Widget]:
    """The widgets of a dashboard.

    Raises:
        CannotRunError: it holds what is not drawn here.
    """
    return [_widget(widget) for widget in json.loads(body)["widgets"]]


def _widget(widget: Mapping[str, Any]) -> Widget:
    properties = widget["properties"]
    title = properties.get("title", "")
    subject = f"the widget {title!r}"
    _check(subject, widget, _WIDGET)
    box = Box(*(widget[key] for key in ("x", "y", "width", "height")))
    match widget["type"], properties.get("view"):
        case "metric", "timeSeries" | None:
            return _graph(subject, title, box, properties)
        case "log", "table" | None:
            _check(subject, properties, {"title", "region", "query", "view"})
            return LogTable(title, box)
        case "text", None:
            _check("a text", properties, {"markdown"})
            return Text(box, properties["markdown"])
        case kind, view:
            raise _drawing_error(subject, f"is of the type {kind} {view or ''}".rstrip())
    raise AssertionError


def _graph(subject: str, title: str, box: Box, properties: Mapping[str, Any]) -> Graph:
    _check(subject, properties, _PROPERTIES)
    axes = properties.get("yAxis", {})
    _check(f"the axis of {subject}", axes, {"left"})
    left_axis = axes.get("left", {})
    _check(f"the axis of {subject}", left_axis, {"min", "max", "showUnits"})
    annotations = properties.get("annotations", {})
    _check(f"an annotation of {subject}", annotations, {"horizontal"})
    return Graph(
        title=title,
        box=box,
        minimum=left_axis.get("min"),
        maximum=left_axis.get("max"),
        queries=tuple(_query(subject, number, line) for number, line in enumerate(properties["metrics"])),
        annotations=tuple(
            _annotation(subject, annotation) for annotation in annotations.get("horizontal", ())
        ),
    )


def _annotation(subject: str, annotation: Any) -> Annotation:
    if not isinstance(annotation, Mapping):
        raise _drawing_error(subject, "has a band of two annotations")
    _check(f"an annotation of {subject}", annotation, _ANNOTATION)
    return Annotation(annotation["value"], annotation.get("label", ""), annotation.get("color", _USUAL))


def _query(subject: str, number: int, line: Sequence[Any]) -> Query:
    path = [part for part in line if isinstance(part, str)]
    if {".", "..."} & set(path):
        raise _drawing_error(subject, "abbreviates a line")
    options = line[-1] if isinstance(line[-1], Mapping) else {}
    _check(f"a line of {subject}", options, _OPTIONS)
    # CloudWatch's own rule: an id begins with a small letter.
    id = options.get("id", f"line{number}")
    period = options.get("period", 300)
    data: MetricDataQueryTypeDef = {"Id": id, "ReturnData": options.get("visible", True)}
    if "label" in options:
        data["Label"] = options["label"]
    if "expression" in options:
        data |= {"Expression": options["expression"], "Period": period}
        label = options.get("label", options["expression"])
    else:
        namespace, name, *dimensions = path
        pairs = zip(dimensions[::2], dimensions[1::2], strict=True)
        data["MetricStat"] = {
            "Metric": {
                "Namespace": namespace,
                "MetricName": name,
                "Dimensions": [{"Name": key, "Value": value} for key, value in pairs],
            },
            "Period": period,
            "Stat": options.get("stat", "Average"),
        }
        label = options.get("label", name)
    return Query(id=id, label=label, period=period, visible=data["ReturnData"], data=data)


def _check(subject: str, mapping: Mapping[str, Any], allowed_keys: Collection[str]) -> None:
    for key in mapping:
        if key not in allowed_keys:
            raise _drawing_error(subject, f"has {key!r}")


def _drawing_error(subject: str, problem: str) -> CannotRunError:
    return CannotRunError(f"{subject} {problem}, which is not drawn here")


INVALID = "ValidationError"
_SEARCH_METRIC = re.compile(r'MetricName="([^"]+)"')


@dataclass(frozen=True)
class Line:
    """A line's values by Unix seconds, `period` seconds apart or more.

    `measurable` is false of what this machine's endpoints can never publish.
    """

    label: str
    period: int
    values: dict[int, float]
    measurable: bool = True


def fetch_lines(
    cloudwatch: CloudWatchClient, graph: Graph, start: datetime, end: datetime, *, local: bool
) -> list[Line]:
    """The lines that a graph shows; a search without a result is one line without values.

    Raises:
        CannotRunError: an expression that CloudWatch does not know.
        ClientError: it refuses the caller.
    """
    if not graph.queries:
        return []
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=[query.data for query in graph.queries], StartTime=start, EndTime=end
    )
    values = dict[tuple[str, str], dict[int, float]]()
    try:
        for result in (entry for page in pages for entry in page["MetricDataResults"]):
            times = (int(moment.timestamp()) for moment in result["Timestamps"])
            of_line = values.setdefault((result["Id"], result["Label"]), {})
            of_line |= zip(times, result["Values"], strict=True)
    except ClientError as error:
        if error.response["Error"]["Code"] != INVALID:
            raise
        problem = f"the graph {graph.title!r} cannot be drawn: {error.response['Error']['Message']}"
        raise CannotRunError(problem) from error
    lines: dict[str, list[Line]] = {}
    queries = {query.id: query for query in graph.queries}
    for (id, label), of_line in values.items():
        query = queries[id]
        is_measurable = not local or _measurable(query, graph)
        lines.setdefault(id, []).append(Line(_short(label, query), query.period, of_line, is_measurable))
    return [
        line
        for query in graph.queries
        if query.visible
        for line in _fold_zero_lines(lines.get(query.id, []))
        or [Line(query.label, query.period, {}, not local or _measurable(query, graph))]
    ]


def _short(label: str, query: Query) -> str:
    """Without the metric's name, which CloudWatch puts behind the dimensions of each series of a search."""
    for name in _search_metrics(query):
        label = label.removesuffix(f" {name}")
    return label


def _fold_zero_lines(lines: Sequence[Line]) -> list[Line]:
    """A search's series that are 0 all the time are one line, so that the legend has room for the others."""
    idle = [line for line in lines if line.values and not any(line.values.values())]
    if len(idle) < 2:
        return list(lines)
    moving_lines = [line for line in lines if line not in idle]
    label = f"{len(idle)} others: 0" if moving_lines else f"all {len(idle)}: 0"
    times = sorted({time for line in idle for time in line.values})
    return [*moving_lines, Line(label, idle[0].period, dict.fromkeys(times, 0.0))]


def _measurable(query: Query, graph: Graph) -> bool:
    return never_local().isdisjoint(_metrics(query, graph))


def _metrics(query: Query, graph: Graph) -> set[str]:
    """The names of the metrics that a query is computed from."""
    if "MetricStat" in query.data:
        return {query.data["MetricStat"]["Metric"]["MetricName"]}
    ids = set(re.findall(r"\w+", query.data["Expression"])) - {query.id}
    of = [_metrics(query, graph) for query in graph.queries if query.id in ids]
    return set(_search_metrics(query)).union(*of)


def _search_metrics(query: Query) -> list[str]:
    return _SEARCH_METRIC.findall(query.data.get("Expression", ""))
