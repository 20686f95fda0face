"""The endpoint's dashboard: what SageMaker measures, and what Triton measures."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Duration
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
    endpoint's own namespace by name alone.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint, endpoint_name: str) -> None:
        super().__init__(scope, id)
        self._endpoint_name = endpoint_name
        widgets = [self._graph(graph) for graph in GRAPHS if _has(endpoint, graph)]
        if endpoint.triton_metrics:
            widgets += [_triton_graph(graph, endpoint.triton_metrics) for graph in TRITON_GRAPHS]
        self.dashboard = cloudwatch.Dashboard(self, "Resource", default_interval=Duration.hours(3))
        for row in range(0, len(widgets), 2):
            self.dashboard.add_widgets(*widgets[row : row + 2])

    def _graph(self, graph: Graph) -> cloudwatch.GraphWidget:
        lines = [self._line(line, graph.scale) for line in graph.lines]
        return _widget(graph.title, lines)

    def _line(self, line: Line, scale: str) -> cloudwatch.IMetric:
        metric = endpoint_metric(line.measure)
        measured = cloudwatch.Metric(
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions_map={"EndpointName": self._endpoint_name, "VariantName": VARIANT},
            statistic=line.statistic,
            period=Duration.seconds(PERIOD),
            label=line.label,
        )
        if not scale:
            return measured
        name = f"{line.measure}_{line.statistic}"
        return cloudwatch.MathExpression(
            expression=f"{name} {scale}",
            using_metrics={name: measured},
            label=line.label,
            period=Duration.seconds(PERIOD),
        )


def _has(endpoint: ResolvedEndpoint, graph: Graph) -> bool:
    return any(endpoint.kinds & set(endpoint_metric(line.measure).kinds) for line in graph.lines)


def _triton_graph(graph: TritonGraph, metrics: TritonMetrics) -> cloudwatch.GraphWidget:
    over = _search(graph.over, graph.statistic, metrics)
    under = f" / {_search(graph.under, graph.statistic, metrics)}" if graph.under else ""
    line = cloudwatch.MathExpression(
        expression=f"{over}{under} {graph.scale}".strip(),
        using_metrics={},
        label=graph.title,
        period=Duration.seconds(PERIOD),
    )
    return _widget(graph.title, [line])


def _search(measure: str, statistic: str, metrics: TritonMetrics) -> str:
    query = f'Namespace="{metrics.namespace}" MetricName="{triton_metric(measure)}"'
    return f"SUM(SEARCH('{query}', '{statistic}', {PERIOD}))"


def _widget(title: str, lines: list[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title,
        left=lines,
        left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
        width=WIDTH,
        height=HEIGHT,
    )
