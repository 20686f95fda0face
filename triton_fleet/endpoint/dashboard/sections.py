"""The sections, graphs and lines of a dashboard; an endpoint has the lines whose metrics it has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """The unit of an axis."""

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
    minimum: float | None = 0


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


PERCENTILES = ("p50", "p90", "p99")
RUNNING_INSTANCES = Line("cpu_utilization", "SampleCount", "running")
"""SageMaker publishes no number of instances; each publishes its CPU at one interval: samples are counted."""
CALLS = Line("invocations", "Sum", "all")
CALLS_PER_INSTANCE = Line("invocations_per_instance", "Sum", "per instance")

SECTIONS = (
    Section(
        "Calls",
        "Calls as their callers see them. Latency is the container's; SageMaker adds the overhead. 4XX is a"
        " mistake of the caller, 5XX a failure of the model or of SageMaker.",
        (
            Graph("Invocations a minute", (CALLS, CALLS_PER_INSTANCE)),
            Graph(
                "Model latency, ms",
                tuple(Line("model_latency", percentile, percentile) for percentile in PERCENTILES),
                Unit.MILLISECONDS,
            ),
            Graph(
                "SageMaker's overhead, ms",
                tuple(Line("overhead_latency", percentile, percentile) for percentile in PERCENTILES),
                Unit.MILLISECONDS,
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
                "Failed invocations, %",
                (
                    Line("errors_4xx", "Average", "4XX"),
                    Line("errors_5xx", "Average", "5XX"),
                    Line("model_errors", "Average", "model"),
                ),
                Unit.PERCENT,
            ),
            Graph(
                "Requests in progress and waiting, per instance",
                (
                    Line("concurrent_requests", "Average", "mean"),
                    Line("concurrent_requests", "Maximum", "maximum"),
                ),
            ),
        ),
    ),
    Section(
        "Instances",
        "100% is one fully busy processor, however many an instance has; memory and disk are those of the"
        " fullest instance. SageMaker publishes no number of instances: running instances are counted by"
        " their samples of CPU utilisation; those that answer calls are invocations divided by invocations"
        " per instance.",
        (
            Graph(
                "Instances running and desired",
                (
                    RUNNING_INSTANCES,
                    Expression(
                        f"{CALLS.id} / {CALLS_PER_INSTANCE.id}", "serving calls", (CALLS, CALLS_PER_INSTANCE)
                    ),
                ),
            ),
            Graph(
                "Instances added or removed",
                (Expression(f"DIFF({RUNNING_INSTANCES.id})", "change", (RUNNING_INSTANCES,)),),
                minimum=None,
            ),
            Graph(
                "GPU, %",
                (
                    Line("gpu_utilization", "Average", "utilisation"),
                    Line("gpu_memory_utilization", "Maximum", "memory"),
                ),
                Unit.PERCENT,
            ),
            Graph(
                "Host, %",
                (
                    Line("cpu_utilization", "Average", "CPU"),
                    Line("memory_utilization", "Maximum", "memory"),
                    Line("disk_utilization", "Maximum", "disk"),
                ),
                Unit.PERCENT,
            ),
        ),
    ),
    Section(
        "Models",
        "All targets together. Few cache hits and many unloaded models mean that the models do not fit in"
        " memory: calls wait until their target is loaded again.",
        (
            Graph(
                "Models loaded",
                (
                    Line("loaded_model_count", "Sum", "on all instances"),
                    Line("loaded_model_count", "Average", "per instance"),
                ),
            ),
            Graph(
                "Invocations whose model was already loaded, %",
                (Line("model_cache_hit", "Average", "cache hits"),),
                Unit.PERCENT,
            ),
            Graph(
                "Loading and unloading a model, ms on average",
                (
                    Line("model_loading_wait_time", "Average", "wait of an invocation"),
                    Line("model_downloading_time", "Average", "download"),
                    Line("model_loading_time", "Average", "load"),
                    Line("model_unloading_time", "Average", "unload"),
                ),
                Unit.MILLISECONDS,
            ),
            Graph("Models unloaded a minute", (Line("model_unloading_time", "SampleCount", "unloaded"),)),
        ),
    ),
)
