"""The lines of a graph, as the embedded CloudWatch evaluates them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.findings import CannotRunError
from fleet.local.dashboard.body import Graph

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient


@dataclass(frozen=True)
class Line:
    """A line's values by Unix seconds, `period` seconds apart or more."""

    label: str
    period: int
    values: dict[int, float]


def fetch_lines(cloudwatch: CloudWatchClient, graph: Graph, start: datetime, end: datetime) -> list[Line]:
    """The lines that a graph shows; a search without a result is one line without values.

    Raises:
        CannotRunError: an expression that the embedded CloudWatch does not know.
    """
    if not graph.queries:
        return []
    try:
        answer = cloudwatch.get_metric_data(
            MetricDataQueries=[query.data for query in graph.queries], StartTime=start, EndTime=end
        )
    except ClientError as error:
        problem = f"the graph {graph.title!r} cannot be drawn: {error.response['Error']['Message']}"
        raise CannotRunError(problem) from error
    found: dict[str, list[tuple[str, dict[int, float]]]] = {}
    for result in answer["MetricDataResults"]:
        times = (int(moment.timestamp()) for moment in result["Timestamps"])
        values = dict(zip(times, result["Values"], strict=True))
        found.setdefault(result["Id"], []).append((result["Label"], values))
    return [
        Line(label, query.period, values)
        for query in graph.queries
        if query.visible
        for label, values in found.get(query.id, [(query.label, {})])
    ]
