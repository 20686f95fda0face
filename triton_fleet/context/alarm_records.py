"""All alarms: for each key of `alarms` its metric, when it fires, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from triton_fleet.catalog.limits import seconds_to_answer
from triton_fleet.context.alarms import Missing, Rings
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.endpoint import EndpointSpec

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
FEW = 5
"""Calls in a minute from which failures count: an endpoint with few calls may fail in all of them."""
MAX_PERCENT = 100
ENOUGH = 20
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
        runbook: The section of docs/runbook.md.
    """

    key: str
    measure: str
    statistic: str
    unit: Unit
    means: str
    runbook: str
    severity: AlarmSeverity = "warning"
    rings: Rings = "above"
    missing: Missing = "notBreaching"
    needs: Need = ""
    calls: int = 0
    minutes: int = 5
    datapoints: int = 3
    lasts: bool = False

    def unreachable_threshold(self, spec: EndpointSpec) -> float | None:
        """The threshold, in the key's unit, from which the alarm can never fire."""
        if self.measure == "model_latency":
            return 1000 * seconds_to_answer(streams=spec.container.streams)
        return MAX_PERCENT if self.unit in ("share", "part") and self.rings == "above" else None


def _latency(statistic: str, calls: int) -> AlarmRecord:
    return AlarmRecord(
        key=f"latency_{statistic}",
        measure="model_latency",
        statistic=statistic,
        unit="milliseconds",
        calls=calls,
        means="The container answers calls slowly.",
        runbook="latency",
    )


RECORDS = (
    _latency("p50", 10),
    _latency("p90", ENOUGH),
    _latency("p99", ENOUGH),
    AlarmRecord(
        key="overhead_p99",
        measure="overhead_latency",
        statistic="p99",
        unit="milliseconds",
        calls=ENOUGH,
        means="SageMaker itself adds much latency: calls queue, or requests and responses are large.",
        runbook="overhead",
    ),
    AlarmRecord(
        key="errors",
        measure="errors_5xx",
        statistic="Average",
        unit="share",
        severity="critical",
        calls=FEW,
        means="Calls fail with a 5xx status.",
        runbook="errors",
    ),
    AlarmRecord(
        key="client_errors",
        measure="errors_4xx",
        statistic="Average",
        unit="share",
        calls=ENOUGH,
        means="Calls are refused with a 4xx status: requests that do not fit the model, or too many of them.",
        runbook="client-errors",
    ),
    AlarmRecord(
        key="model_errors",
        measure="model_errors",
        statistic="Average",
        unit="share",
        severity="critical",
        calls=FEW,
        means="The container answers without a 2xx status, too late, or not at all.",
        runbook="model-errors",
    ),
    AlarmRecord(
        key="gpu_utilization",
        measure="gpu_utilization",
        statistic="Average",
        unit="part",
        needs="gpu",
        # Short peaks are what a GPU is for.
        minutes=15,
        datapoints=10,
        missing="missing",
        means="The GPUs are fully used, so calls queue.",
        runbook="gpu",
    ),
    AlarmRecord(
        key="gpu_memory",
        measure="gpu_memory_utilization",
        statistic="Maximum",
        unit="part",
        needs="gpu",
        missing="missing",
        means="GPU memory is nearly full: the next model, or a larger batch, may not fit.",
        runbook="gpu-memory",
    ),
    AlarmRecord(
        key="cpu_utilization",
        measure="cpu_utilization",
        statistic="Average",
        unit="part",
        minutes=15,
        datapoints=10,
        missing="missing",
        means="The CPUs are fully used, so pre- and post-processing waits for them.",
        runbook="cpu",
    ),
    AlarmRecord(
        key="memory",
        measure="memory_utilization",
        statistic="Maximum",
        unit="part",
        missing="missing",
        means="The memory of an instance is nearly full: the system may kill its container.",
        runbook="memory",
    ),
    AlarmRecord(
        key="disk",
        measure="disk_utilization",
        statistic="Maximum",
        unit="part",
        missing="missing",
        means="The disk of an instance is nearly full: Triton cannot unpack models and environments.",
        runbook="disk",
    ),
    AlarmRecord(
        key="at_capacity",
        # SageMaker publishes no number of instances; each publishes its CPU at one interval.
        measure="cpu_utilization",
        statistic="SampleCount",
        unit="instances",
        rings="at least",
        needs="scaling",
        lasts=True,
        missing="missing",
        means="The endpoint runs its maximum number of instances: it cannot scale out further.",
        runbook="at-capacity",
    ),
    AlarmRecord(
        key="model_load",
        measure="model_loading_time",
        statistic="Average",
        unit="milliseconds",
        needs="multi-model",
        means="The container loads models slowly.",
        runbook="model-load",
    ),
    AlarmRecord(
        key="loading_wait",
        measure="model_loading_wait_time",
        statistic="Average",
        unit="milliseconds",
        needs="multi-model",
        means="Calls wait long for their model to load.",
        runbook="loading-wait",
    ),
    AlarmRecord(
        key="cache_hits",
        measure="model_cache_hit",
        statistic="Average",
        unit="share",
        rings="below",
        needs="multi-model",
        calls=ENOUGH,
        means="Many calls need a model that is not loaded: models evict each other from memory.",
        runbook="cache-hits",
    ),
    AlarmRecord(
        key="pending_requests",
        measure="pending_requests",
        statistic="Maximum",
        unit="requests",
        needs="triton",
        missing="missing",
        means="Requests wait in Triton's queue: the model has too few instances for the load.",
        runbook="pending-requests",
    ),
)
"""In the order of the keys; a key without a record would have no alarm."""
