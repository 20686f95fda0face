"""Consequences of a rollout's keys: its waits, its alarms, its time-out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from triton_fleet.catalog.limits import limit
from triton_fleet.context.alarms import RECORDS, Unit
from triton_fleet.context.capacity import most_instances
from triton_fleet.context.metrics import PERIOD
from triton_fleet.spec.alarms import Alarms
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.rollout import Rollout, Strategy

PERIODS, DATAPOINTS = 3, 2
"""A rollback alarm looks at that many minutes; it fires when so many of them are in breach."""
MIN_BAKE_SECONDS = PERIOD * PERIODS
"""Seconds that its alarms evaluate: a shorter bake ends before they can roll the update back."""
METRIC_DELAY_SECONDS = 120
"""Seconds until alarms have metrics of the new configuration, which begin with its traffic: a guess."""
ERRORS = 1.0
"""Percent of failed calls that roll an update back, if `alarms` has no threshold for errors."""
LATENCIES = ("latency_p50", "latency_p90", "latency_p99")
PROVISIONING_SECONDS = 1800
"""Seconds in which SageMaker finds and starts instances, beside download and start of the model."""


@dataclass(frozen=True, kw_only=True)
class RollbackAlarm:
    """An alarm on the new fleet: the catalog's measure, its statistic, and what it must not exceed.

    `threshold` is in the metric's own unit: a share of 1 for errors, microseconds for latencies.
    """

    measure: str
    statistic: str
    threshold: float

    def can_fire(self, spec: EndpointSpec) -> bool:
        """Whether the metric can exceed the threshold."""
        return all(
            self.threshold < threshold * _IN_METRIC[record.unit]
            for record in RECORDS
            if record.measure == self.measure
            and (threshold := record.unreachable_threshold(spec)) is not None
        )


_IN_METRIC: Mapping[Unit, float] = {"share": 0.01, "milliseconds": 1000}
"""One unit of a threshold, in the unit of its metric."""


def waits(spec: EndpointSpec, rollout: Rollout) -> int:
    """Seconds that a rollout waits in all: a bake after each step, and the wait for the old fleet's end."""
    return steps(spec, rollout) * rollout.bake + rollout.termination_wait


def seconds(spec: EndpointSpec, rollout: Rollout) -> int:
    """The longest that a rollout may take: the spec's time-out, else what it needs, within the limits."""
    timeout = rollout_seconds(spec, rollout) if rollout.timeout is None else rollout.timeout
    return min(max(timeout, limit("rollout_seconds_min")), limit("rollout_seconds_max"))


def rollout_seconds(spec: EndpointSpec, rollout: Rollout) -> int:
    """Seconds for a rollout's waits and for the starts of its instances."""
    starts = steps(spec, rollout) if rollout.strategy is Strategy.ROLLING else 1
    start = PROVISIONING_SECONDS + spec.timeouts.model_download + spec.timeouts.startup
    return waits(spec, rollout) + starts * start


def rollback_alarms(spec: EndpointSpec, rollout: Rollout) -> tuple[RollbackAlarm, ...]:
    """Alarms that roll back, each at the strictest of its thresholds; none with `rollback_on: []`."""
    alarms = spec.alarms or Alarms()
    measures = ("errors", "latency") if rollout.rollback_on is None else rollout.rollback_on
    return (
        *(_errors(alarms) if "errors" in measures else ()),
        *(_latencies(alarms) if "latency" in measures else ()),
    )


def _errors(alarms: Alarms) -> Iterator[RollbackAlarm]:
    # The average of Invocation5XXErrors is the share of invocations that failed.
    percent = min(alarms.thresholds("errors", "critical").values(), default=ERRORS)
    yield RollbackAlarm(measure="errors_5xx", statistic="Average", threshold=percent / 100)


def _latencies(alarms: Alarms) -> Iterator[RollbackAlarm]:
    for key in LATENCIES:
        milliseconds = min(alarms.thresholds(key, "critical").values(), default=None)
        if milliseconds is not None:
            statistic = key.removeprefix("latency_")
            yield RollbackAlarm(measure="model_latency", statistic=statistic, threshold=milliseconds * 1000)


def steps(spec: EndpointSpec, rollout: Rollout) -> int:
    """After a canary all others follow, and bake as well; no step moves less than an instance.

    Source: SageMaker developer guide, deployment-guardrails-blue-green-canary.html.
    """
    if rollout.strategy is Strategy.CANARY:
        return 2
    if rollout.strategy is Strategy.ALL_AT_ONCE or not rollout.step:
        return 1
    maximum, _ = most_instances(spec)
    return min(ceil(100 / rollout.step), maximum)
