"""The alarms: for each key of `alarms` its metric, when it fires, its meaning; and whose thresholds hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from triton_fleet.catalog.limits import seconds_to_answer
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import PERIOD
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.endpoint import EndpointSpec, Mode

Comparison: TypeAlias = Literal["above", "below", "at least"]
"""On which side of its threshold an alarm fires."""
MissingData: TypeAlias = Literal["notBreaching", "missing"]
"""What a period without data is, as CloudWatch spells it: not a breach, or no evidence."""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One alarm for operators.

    Attributes:
        key: The key of `alarms` that it follows from, such as `latency_p99`.
        measure: The catalog's name of the metric.
        statistic: The statistic of a period, as CloudWatch spells it.
        threshold: What must not be exceeded, in the metric's own unit: microseconds, a share of 1, or percent
            added up over an instance's GPUs or vCPUs.
        graph_threshold: The same as a graph shows it: milliseconds, or percent of one GPU or vCPU; not a
            number where only the deploy knows it.
        calls: Minutes with fewer calls do not count; 0 where all do.
        period: Seconds.
        periods: The number of periods in the alarm's window.
        datapoints: The number of those in which the threshold must be breached.
        text: The alarm's description.
        query: In Metrics Insights, where the metric's dimensions are not known; else empty.
    """

    key: str
    severity: AlarmSeverity
    measure: str
    statistic: str
    threshold: float
    graph_threshold: float
    comparison: Comparison = "above"
    calls: int = 0
    period: int = PERIOD
    periods: int = 5
    datapoints: int = 3
    missing_data: MissingData = "notBreaching"
    text: str = ""
    query: str = ""


Unit: TypeAlias = Literal["milliseconds", "share", "part", "instances", "requests"]
"""Of a threshold: `share` is percent of calls, `part` percent of one GPU, of one vCPU, of memory or disk."""
SIGNS: Mapping[Unit, str] = {
    "milliseconds": "ms",
    "share": "%",
    "part": "%",
    "instances": "s",
    "requests": "",
}
"""The unit that a spec writes after a threshold; that of `instances` is a duration."""
Need: TypeAlias = Literal["", "gpu", "multi-model", "scaling", "triton"]
"""Without what an endpoint lacks the metric."""
MIN_CALLS_FOR_ERRORS = 5
"""Calls in a minute from which failures count: an endpoint with few calls may fail in all of them."""
MAX_PERCENT = 100
MIN_CALLS_FOR_LATENCY = 20
"""Calls in a minute from which a slow tail is not just one slow call."""


@dataclass(frozen=True, kw_only=True)
class AlarmRecord:
    """One kind of alarm.

    Attributes:
        key: The key of `alarms` with its thresholds.
        measure: The catalog's name of the metric, of Triton's own if `needs` is `triton`.
        severity: The severity of a threshold that has none of its own.
        calls: Minutes with fewer calls do not count, unless `alarms.calls` sets another number; 0: all count.
        minutes: The number of minutes in the alarm's window.
        datapoints: The number of those in which the threshold must be breached.
        lasts: The threshold is a duration: `scaling.max` is what is not to be reached for so long.
        means: One sentence.
        section: That of docs/runbook.md, where it is not named as the key.
    """

    key: str
    measure: str
    statistic: str = "Average"
    unit: Unit
    means: str
    section: str = ""
    severity: AlarmSeverity = "warning"
    comparison: Comparison = "above"
    needs: Need = ""
    calls: int = 0
    minutes: int = 5
    datapoints: int = 3
    lasts: bool = False

    @property
    def runbook(self) -> str:
        """The section of docs/runbook.md."""
        return self.section or self.key.replace("_", "-")

    @property
    def missing_data(self) -> MissingData:
        """A minute without calls does not breach it; an instance that publishes nothing proves nothing."""
        return "missing" if self.unit in ("part", "instances", "requests") else "notBreaching"

    def unreachable_threshold(self, spec: EndpointSpec) -> float | None:
        """The threshold, in the key's unit, from which the alarm can never fire."""
        if self.measure == "model_latency":
            return 1000 * seconds_to_answer(streams=spec.container.streams)
        return MAX_PERCENT if self.unit in ("share", "part") and self.comparison == "above" else None


def _latency(statistic: str, calls: int) -> AlarmRecord:
    return AlarmRecord(
        key=f"latency_{statistic}",
        measure="model_latency",
        statistic=statistic,
        unit="milliseconds",
        calls=calls,
        means="The container answers calls slowly.",
        section="latency",
    )


RECORDS = (
    _latency("p50", 10),
    _latency("p90", MIN_CALLS_FOR_LATENCY),
    _latency("p99", MIN_CALLS_FOR_LATENCY),
    AlarmRecord(
        key="overhead_p99",
        measure="overhead_latency",
        statistic="p99",
        unit="milliseconds",
        calls=MIN_CALLS_FOR_LATENCY,
        means="SageMaker itself adds much latency: calls queue, or requests and responses are large.",
        section="overhead",
    ),
    AlarmRecord(
        key="errors",
        measure="errors_5xx",
        unit="share",
        severity="critical",
        calls=MIN_CALLS_FOR_ERRORS,
        means="Calls fail with a 5xx status.",
    ),
    AlarmRecord(
        key="client_errors",
        measure="errors_4xx",
        unit="share",
        calls=MIN_CALLS_FOR_LATENCY,
        means="Calls are refused with a 4xx status: requests that do not fit the model, or too many of them.",
    ),
    AlarmRecord(
        key="model_errors",
        measure="model_errors",
        unit="share",
        severity="critical",
        calls=MIN_CALLS_FOR_ERRORS,
        means="The container answers without a 2xx status, too late, or not at all.",
    ),
    AlarmRecord(
        key="gpu_utilization",
        measure="gpu_utilization",
        unit="part",
        needs="gpu",
        # Short peaks are what a GPU is for.
        minutes=15,
        datapoints=10,
        means="The GPUs are fully used, so calls queue.",
        section="gpu",
    ),
    AlarmRecord(
        key="gpu_memory",
        measure="gpu_memory_utilization",
        statistic="Maximum",
        unit="part",
        needs="gpu",
        means="GPU memory is nearly full: the next model, or a larger batch, may not fit.",
    ),
    AlarmRecord(
        key="cpu_utilization",
        measure="cpu_utilization",
        unit="part",
        minutes=15,
        datapoints=10,
        means="The CPUs are fully used, so pre- and post-processing waits for them.",
        section="cpu",
    ),
    AlarmRecord(
        key="memory",
        measure="memory_utilization",
        statistic="Maximum",
        unit="part",
        means="The memory of an instance is nearly full: the system may kill its container.",
    ),
    AlarmRecord(
        key="disk",
        measure="disk_utilization",
        statistic="Maximum",
        unit="part",
        means="The disk of an instance is nearly full: Triton cannot unpack models and environments.",
    ),
    AlarmRecord(
        key="at_capacity",
        # SageMaker publishes no number of instances; each publishes its CPU at one interval.
        measure="cpu_utilization",
        statistic="SampleCount",
        unit="instances",
        comparison="at least",
        needs="scaling",
        lasts=True,
        means="The endpoint runs its maximum number of instances: it cannot scale out further.",
    ),
    AlarmRecord(
        key="model_load",
        measure="model_loading_time",
        unit="milliseconds",
        needs="multi-model",
        means="The container loads models slowly.",
    ),
    AlarmRecord(
        key="loading_wait",
        measure="model_loading_wait_time",
        unit="milliseconds",
        needs="multi-model",
        means="Calls wait long for their model to load.",
    ),
    AlarmRecord(
        key="cache_hits",
        measure="model_cache_hit",
        unit="share",
        comparison="below",
        needs="multi-model",
        calls=MIN_CALLS_FOR_LATENCY,
        means="Many calls need a model that is not loaded: models evict each other from memory.",
    ),
    AlarmRecord(
        key="pending_requests",
        measure="pending_requests",
        statistic="Maximum",
        unit="requests",
        needs="triton",
        means="Requests wait in Triton's queue: the model has too few instances for the load.",
    ),
)
"""In the order of the keys; a key without a record would have no alarm."""


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """One threshold of one severity, in the unit of its key; `is_given` where the spec sets it itself."""

    record: AlarmRecord
    severity: AlarmSeverity
    value: float
    is_given: bool


def thresholds(spec: EndpointSpec, *, without_defaults: bool = False) -> Iterator[Threshold]:
    """The thresholds of a spec, whether or not the endpoint has the metrics.

    Args:
        spec: The spec.
        without_defaults: Leave out those that hold by default.
    """
    if spec.alarms is None:
        return
    for record in RECORDS:
        is_own = record.key in spec.alarms.model_fields_set
        if without_defaults and not is_own:
            continue
        for severity, value in spec.alarms.thresholds(record.key, record.severity).items():
            yield Threshold(record=record, severity=severity, value=value, is_given=is_own)


def missing_metric(record: AlarmRecord, endpoint: EndpointContext) -> str:
    """Why the endpoint does not have the metric; empty where it has it."""
    has, reason = _NEEDS[record.needs]
    return "" if has(endpoint) else reason.format(type=endpoint.spec.instance.type)


def gate(record: AlarmRecord, spec: EndpointSpec) -> int:
    """In how many calls of a minute an alarm believes; 0 where it looks at every minute."""
    own = spec.alarms.calls if spec.alarms else None
    calls = record.calls if own is None or not record.calls else own
    return calls if calls > 1 else 0


_NEEDS: Mapping[Need, tuple[Callable[[EndpointContext], bool], str]] = {
    "": (lambda endpoint: True, ""),
    "gpu": (lambda endpoint: endpoint.machine is None or endpoint.machine.gpus > 0, "{type} has no GPU"),
    "multi-model": (
        lambda endpoint: endpoint.spec.mode is Mode.MULTI_MODEL,
        "only endpoints of mode `multi-model` load models when they are called",
    ),
    "scaling": (
        lambda endpoint: endpoint.spec.scaling is not None,
        "without `scaling` there is no `max` to be reached",
    ),
    "triton": (
        lambda endpoint: endpoint.spec.metrics.triton,
        "`metrics.triton` is off, and only Triton counts it",
    ),
}
