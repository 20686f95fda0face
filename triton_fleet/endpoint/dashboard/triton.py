"""Graphs of Triton's own metrics, which are found without knowing their dimensions.

What is published with several sets of dimensions is found once for each of them. So nothing is summed by
itself: what is drawn as it is has a line for each series, and sums stand in quotients alone, over and under
which they are too large by the same factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.catalog.metrics import triton_labels, triton_metric, triton_series
from triton_fleet.context.metrics import PERIOD, TritonMetrics
from triton_fleet.endpoint.dashboard.sections import TritonGraph, Unit
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint

MODEL = "model"
"""Triton's label of a model's name."""
MAX_MODELS = 20
"""How many models have a quotient of their own: each takes two searches, of which a graph has 100 at most."""

TITLE = "Triton"
TRITON_GRAPHS = (
    TritonGraph("Triton: requests served a minute", "requests_succeeded"),
    TritonGraph("Triton: requests failed a minute, by reason", "requests_failed"),
    TritonGraph("Triton: requests waiting", "pending_requests", statistic="Maximum"),
    TritonGraph("Triton: mean batch", "inferences", "executions"),
    TritonGraph(
        "Triton: queue time a request, ms",
        "queue_time",
        "requests_succeeded",
        unit=Unit.MILLISECONDS,
        scale="/ 1000",
    ),
    TritonGraph(
        "Triton: compute time a request, ms",
        "compute_time",
        "requests_succeeded",
        unit=Unit.MILLISECONDS,
        scale="/ 1000",
    ),
    TritonGraph("Triton: GPU power, W", "gpu_power", statistic="Average", unit=Unit.WATTS),
    TritonGraph(
        "Triton: GPU memory, %",
        "gpu_memory_used",
        "gpu_memory_total",
        statistic="Average",
        unit=Unit.PERCENT,
        scale="* 100",
    ),
)


def triton_text(endpoint: ResolvedEndpoint, metrics: TritonMetrics) -> str:
    """The text that explains Triton's graphs."""
    text = f"The container's metrics in `{metrics.namespace}`, one line for each series."
    if not metrics.dimensions:
        return (
            f"{text} Their dimensions are not documented, so all of them are searched: a series with several"
            " sets of dimensions is drawn more than once, and ratios are over all models. Once you know the"
            " dimensions, write `metrics: {triton_dimensions: [...]}`."
        )
    if _by_model(endpoint, metrics):
        return f"{text} Ratios are per model."
    if MODEL in metrics.dimensions and len(endpoint.counted_models) > MAX_MODELS:
        return (
            f"{text} Ratios are over all models: there are {len(endpoint.counted_models)}, and a graph"
            f" shows {MAX_MODELS} at most."
        )
    return f"{text} Ratios are over all models."


def triton_lines(graph: TritonGraph, endpoint: ResolvedEndpoint, metrics: TritonMetrics) -> list[list[Any]]:
    """The lines of a graph, as a dashboard's body has them."""
    return [[{**line, "period": PERIOD}] for line in _lines(graph, endpoint, metrics)]


def _lines(
    graph: TritonGraph, endpoint: ResolvedEndpoint, metrics: TritonMetrics
) -> Iterator[dict[str, str]]:
    if graph.under is None:
        search = _search(graph.over, graph.statistic, metrics)
        # Without a label of its own, each series has that of its metric.
        label = " ".join(f"${{PROP('Dim.{name}')}}" for name in _schema(graph.over, metrics))
        yield {"expression": f"{search} {graph.scale}".strip(), "label": label}
        return
    every_model = all(MODEL in triton_series(measure).labels for measure in graph.measures)
    for model in _by_model(endpoint, metrics) if every_model else ():
        yield {"expression": _quotient(graph, graph.under, metrics, model), "label": model}
    if not every_model or not _by_model(endpoint, metrics):
        yield {"expression": _quotient(graph, graph.under, metrics), "label": graph.title}


def _by_model(endpoint: ResolvedEndpoint, metrics: TritonMetrics) -> tuple[str, ...]:
    """The models that have quotients of their own."""
    models = endpoint.counted_models
    return models if MODEL in metrics.dimensions and len(models) <= MAX_MODELS else ()


def _quotient(graph: TritonGraph, under: str, metrics: TritonMetrics, model: str = "") -> str:
    """CloudWatch drops a point that would be divided by zero."""
    parts = [f"SUM({_search(measure, graph.statistic, metrics, model)})" for measure in (graph.over, under)]
    return f"{' / '.join(parts)} {graph.scale}".strip()


def _search(measure: str, statistic: str, metrics: TritonMetrics, model: str = "") -> str:
    names = ",".join(f'"{name}"' for name in (metrics.namespace, *_schema(measure, metrics)))
    source = f"{{{names}}}" if metrics.dimensions else f'Namespace="{metrics.namespace}"'
    model_filter = f' {MODEL}="{model}"' if model else ""
    return (
        f"SEARCH('{source} MetricName=\"{triton_metric(measure)}\"{model_filter}', '{statistic}', {PERIOD})"
    )


def _schema(measure: str, metrics: TritonMetrics) -> list[str]:
    """The dimensions of one metric: of those that are Triton's labels, the ones that its series have."""
    own = triton_series(measure).labels
    return [name for name in metrics.dimensions if name in own or name not in triton_labels()]
