"""The lines of a graph, as CloudWatch evaluates them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from triton_fleet.aws.dashboard.body import Graph, Query
from triton_fleet.catalog.metrics import never_local
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient


INVALID = "ValidationError"
_SEARCHED = re.compile(r'MetricName="([^"]+)"')


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
        for result in (each for page in pages for each in page["MetricDataResults"]):
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
    others = [line for line in lines if line not in idle]
    label = f"{len(idle)} others: 0" if others else f"all {len(idle)}: 0"
    times = sorted({time for line in idle for time in line.values})
    return [*others, Line(label, idle[0].period, dict.fromkeys(times, 0.0))]


def _measurable(query: Query, graph: Graph) -> bool:
    return never_local().isdisjoint(_metrics(query, graph))


def _metrics(query: Query, graph: Graph) -> set[str]:
    """The names of the metrics that a query is computed from."""
    if "MetricStat" in query.data:
        return {query.data["MetricStat"]["Metric"]["MetricName"]}
    named = set(re.findall(r"\w+", query.data["Expression"])) - {query.id}
    of = [_metrics(query, graph) for query in graph.queries if query.id in named]
    return set(_search_metrics(query)).union(*of)


def _search_metrics(query: Query) -> list[str]:
    return _SEARCHED.findall(query.data.get("Expression", ""))
