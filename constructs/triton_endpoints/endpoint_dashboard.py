"""The endpoint's dashboard: what SageMaker measures, and what Triton measures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from fleet.catalog.metrics import endpoint_metric, triton_metric
from fleet.decide.variables import TritonMetrics
from fleet.resolve.endpoint import VARIANT, ResolvedEndpoint

WIDTH, HEIGHT = 12, 6
PERIOD = 60


@dataclass(frozen=True)
class Line:
    """One line of a graph: the catalog's measure, a statistic, what the legend calls it."""

    measure: str
    statistic: str
    label: str


@dataclass(frozen=True)
class Graph:
    """One graph: SageMaker's lines of one unit, with what turns it into the unit of the title: `/ 1000`."""

    title: str
    lines: tuple[Line, ...]
    scale: str = ""


@dataclass(frozen=True)
class TritonGraph:
    """One graph of Triton's metrics, summed over the unknown dimensions: a quotient, or a plain sum.

    The statistic is `Sum` for counters, taken to be published as differences, and `Maximum` for gauges.
    """

    title: str
    over: str
    under: str | None = None
    scale: str = ""
    statistic: str = "Sum"


MILLISECONDS = "/ 1000"
PERCENT = "* 100"

GRAPHS = (
    Graph(
        "Invocations a minute",
        (
            Line("invocations", "Sum", "all"),
            Line("invocations_per_instance", "Sum", "per instance"),
        ),
    ),
    Graph(
        "Failed invocations a minute",
        (
            Line("errors_4xx", "Sum", "4XX"),
            Line("errors_5xx", "Sum", "5XX"),
            Line("model_errors", "Sum", "model"),
        ),
    ),
    Graph(
        "Model latency, ms",
        (
            Line("model_latency", "p50", "p50"),
            Line("model_latency", "p90", "p90"),
            Line("model_latency", "p99", "p99"),
        ),
        MILLISECONDS,
    ),
    Graph("SageMaker's overhead, ms", (Line("overhead_latency", "p99", "p99"),), MILLISECONDS),
    Graph(
        "GPU, % summed over an instance's GPUs",
        (
            Line("gpu_utilization", "Average", "utilisation"),
            Line("gpu_memory_utilization", "Average", "memory"),
        ),
    ),
    Graph(
        "Host, %",
        (
            Line("cpu_utilization", "Average", "CPU, summed over cores"),
            Line("memory_utilization", "Average", "memory"),
            Line("disk_utilization", "Average", "disk"),
        ),
    ),
    Graph(
        "Models loaded",
        (
            Line("loaded_model_count", "Sum", "on all instances"),
            Line("loaded_model_count", "Average", "on an instance"),
        ),
    ),
    Graph(
        "Invocations whose model was loaded already, %",
        (Line("model_cache_hit", "Average", "cache hits"),),
        PERCENT,
    ),
    Graph(
        "Loading and unloading a model, ms on average",
        (
            Line("model_loading_wait_time", "Average", "invocation waits for it"),
            Line("model_downloading_time", "Average", "download"),
            Line("model_loading_time", "Average", "load"),
            Line("model_unloading_time", "Average", "unload"),
        ),
        MILLISECONDS,
    ),
    Graph("Models unloaded a minute", (Line("model_unloading_time", "SampleCount", "unloaded"),)),
)

TRITON_GRAPHS = (
    TritonGraph("Triton: requests served a minute, all models", "requests_succeeded"),
    TritonGraph("Triton: requests failed a minute, all models", "requests_failed"),
    TritonGraph("Triton: mean batch", "inferences", "executions"),
    TritonGraph("Triton: requests waiting", "pending_requests", statistic="Maximum"),
    TritonGraph("Triton: queue time a request, ms", "queue_time", "requests_succeeded", MILLISECONDS),
    TritonGraph("Triton: compute time a request, ms", "compute_time", "requests_succeeded", MILLISECONDS),
)


class EndpointDashboard(Construct):
    """One dashboard for one endpoint; CloudFormation names it.

    SageMaker's metrics have documented dimensions. Triton's have not, so they are searched for in the
    endpoint's own namespace by name alone. The body is written as CloudWatch reads it: the CDK's widgets take
    half of an endpoint's synth.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        self._dimensions = ["EndpointName", endpoint.name, "VariantName", VARIANT]
        graphs = {graph.title: self._lines(graph) for graph in GRAPHS if _has(endpoint, graph)}
        if endpoint.triton_metrics:
            graphs |= {graph.title: [_searched(graph, endpoint.triton_metrics)] for graph in TRITON_GRAPHS}
        widgets = [
            _widget(number, title, lines, endpoint.place.region)
            for number, (title, lines) in enumerate(graphs.items())
        ]
        body = json.dumps({"start": "-PT3H", "widgets": widgets})
        self.dashboard = cloudwatch.CfnDashboard(self, "Resource", dashboard_body=body)

    def _lines(self, graph: Graph) -> list[list[Any]]:
        return [drawn for line in graph.lines for drawn in self._line(line, graph.scale)]

    def _line(self, line: Line, scale: str) -> list[list[Any]]:
        """A metric; in another unit, what is computed from it and the metric itself, which is not shown."""
        metric, name = endpoint_metric(line.measure), f"{line.measure}_{line.statistic}"
        measured = [metric.namespace, metric.name, *self._dimensions]
        shown = {"label": line.label, "period": PERIOD, "stat": line.statistic}
        if not scale:
            return [[*measured, shown]]
        computed = {"expression": f"{name} {scale}", "label": line.label, "period": PERIOD}
        return [[computed], [*measured, {**shown, "id": name, "visible": False}]]


def _has(endpoint: ResolvedEndpoint, graph: Graph) -> bool:
    return any(endpoint.kinds & set(endpoint_metric(line.measure).kinds) for line in graph.lines)


def _searched(graph: TritonGraph, metrics: TritonMetrics) -> list[Any]:
    over = _search(graph.over, graph.statistic, metrics)
    under = f" / {_search(graph.under, graph.statistic, metrics)}" if graph.under else ""
    expression = f"{over}{under} {graph.scale}".strip()
    return [{"expression": expression, "label": graph.title, "period": PERIOD}]


def _search(measure: str, statistic: str, metrics: TritonMetrics) -> str:
    query = f'Namespace="{metrics.namespace}" MetricName="{triton_metric(measure)}"'
    return f"SUM(SEARCH('{query}', '{statistic}', {PERIOD}))"


def _widget(number: int, title: str, lines: list[list[Any]], region: str) -> dict[str, Any]:
    return {
        "type": "metric",
        "width": WIDTH,
        "height": HEIGHT,
        "x": number % 2 * WIDTH,
        "y": number // 2 * HEIGHT,
        "properties": {
            "view": "timeSeries",
            "title": title,
            "region": region,
            "metrics": lines,
            "yAxis": {"left": {"min": 0, "showUnits": False}},
        },
    }
