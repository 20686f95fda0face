"""What a rollout's keys lead to: its waits, its alarms, its time-out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from fleet.catalog.limits import limit
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.rollout import Alarms, Rollout, Strategy

PERIOD, PERIODS, RINGING = 60, 3, 2
"""A rollback alarm looks at that many periods of so many seconds; it rings when so many of them are bad."""
ERRORS = 1.0
"""Percent of failed calls that call a rollout back, where `alarms` says nothing of errors."""
LATENCIES = ("latency_p50", "latency_p90", "latency_p99")
_PROVISIONING = 1800
"""Seconds in which SageMaker finds and starts instances, beside download and start of the model."""


@dataclass(frozen=True, kw_only=True)
class RollbackAlarm:
    """An alarm on the new fleet: the catalog's measure, its statistic, and what it must not exceed.

    `threshold` is in the metric's own unit: a share of 1 for errors, microseconds for latencies.
    """

    measure: str
    statistic: str
    threshold: float


def waits(rollout: Rollout) -> int:
    """Seconds that a rollout waits in all, as far as its steps are known."""
    return _steps(rollout) * rollout.bake + rollout.termination_wait


def seconds(spec: EndpointSpec, rollout: Rollout) -> int:
    """The longest that a rollout may take: as its spec says, else its waits and the starts of instances."""
    if rollout.timeout is not None:
        return rollout.timeout
    starts = _steps(rollout) if rollout.strategy is Strategy.ROLLING else 1
    start = _PROVISIONING + spec.timeouts.model_download + spec.timeouts.startup
    wanted = waits(rollout) + starts * start
    return min(max(wanted, limit("rollout_seconds_min")), limit("rollout_seconds_max"))


def rollback_alarms(spec: EndpointSpec, rollout: Rollout) -> tuple[RollbackAlarm, ...]:
    """What calls the rollout back; none with `rollback_on: []`."""
    alarms = spec.alarms or Alarms()
    wanted = ("errors", "latency") if rollout.rollback_on is None else rollout.rollback_on
    return (
        *(_errors(alarms) if "errors" in wanted else ()),
        *(_latencies(alarms) if "latency" in wanted else ()),
    )


def _errors(alarms: Alarms) -> Iterator[RollbackAlarm]:
    # The average of Invocation5XXErrors is the share of invocations that failed.
    percent = ERRORS if alarms.errors is None else alarms.errors
    yield RollbackAlarm(measure="errors_5xx", statistic="Average", threshold=percent / 100)


def _latencies(alarms: Alarms) -> Iterator[RollbackAlarm]:
    for key in LATENCIES:
        milliseconds = getattr(alarms, key)
        if milliseconds is not None:
            statistic = key.removeprefix("latency_")
            yield RollbackAlarm(measure="model_latency", statistic=statistic, threshold=milliseconds * 1000)


def _steps(rollout: Rollout) -> int:
    several = rollout.strategy in (Strategy.LINEAR, Strategy.ROLLING)
    return ceil(100 / rollout.step) if several and rollout.step else 1
