"""The alarms of an endpoint with everything decided, in the units of their metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import ceil

from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.metrics import endpoint_metric, triton_metric
from triton_fleet.context.alarms import (
    Alarm,
    AlarmRecord,
    MissingData,
    Threshold,
    Unit,
    gate,
    missing_metric,
    thresholds,
)
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import PERIOD, period, triton_metrics, values
from triton_fleet.endpoint.endpoint_parts import summed_parts
from triton_fleet.spec.alarms import MINUTE

RUNBOOK = "docs/runbook.md"
"""In the repository, where an environment names no other place."""
_LATE = 10
"""A value that comes a minute late must not end a long alarm: one of so many minutes may be missing."""
_IN_METRIC: Mapping[Unit, Callable[[float, str, EndpointContext, Instance], float]] = {
    "milliseconds": lambda value, measure, endpoint, machine: value * 1000,
    "share": lambda value, measure, endpoint, machine: value / 100,
    "part": lambda value, measure, endpoint, machine: value * summed_parts(measure, machine),
    # More values than one instance less can publish: of several in a period, some may be late.
    "instances": lambda value, measure, endpoint, machine: (
        (value - 1) * values(measure, endpoint.spec.metrics) + 1
    ),
    "requests": lambda value, measure, endpoint, machine: value,
}
"""A threshold in the unit of its metric."""
_LIMIT_FORMATS: Mapping[Unit, str] = {
    "milliseconds": "{:.15g} ms",
    "share": "{:.15g}%",
    "part": "{:.15g}%",
    "instances": "{:.15g} running",
    "requests": "{:.15g} waiting",
}
_MISSING_DATA_TEXTS: Mapping[MissingData, str] = {
    "notBreaching": "A minute without data is not a breach.",
    "missing": "Without data the alarm's state is INSUFFICIENT_DATA.",
}


def resolved_alarms(endpoint: EndpointContext) -> tuple[Alarm, ...]:
    """The alarms of an endpoint; none on a machine that the catalog does not know."""
    return tuple(alarm for _, alarm in alarms_with_thresholds(endpoint))


def alarms_with_thresholds(endpoint: EndpointContext) -> Iterator[tuple[Threshold, Alarm]]:
    """Each alarm with its threshold; those whose metric the endpoint lacks are left out."""
    for threshold in thresholds(endpoint.spec):
        if endpoint.machine is not None and not missing_metric(threshold.record, endpoint):
            alarm = _alarm(endpoint, endpoint.machine, threshold)
            yield threshold, replace(alarm, text=_text(endpoint, threshold.record, alarm))


def condition(record: AlarmRecord, alarm: Alarm) -> str:
    """When an alarm fires, in one line."""
    name = triton_metric(alarm.measure) if alarm.query else endpoint_metric(alarm.measure).name
    limit = _LIMIT_FORMATS[record.unit].format(alarm.graph_threshold)
    periods = "minutes" if alarm.period == PERIOD else f"periods of {alarm.period}s"
    share = f"{alarm.datapoints} of {alarm.periods} {periods}"
    return f"{alarm.statistic} of {name} {alarm.comparison} {limit} in {share}"


def _alarm(endpoint: EndpointContext, machine: Instance, threshold: Threshold) -> Alarm:
    record, spec = threshold.record, endpoint.spec
    minutes = int(threshold.value) // MINUTE if record.lasts else record.minutes
    datapoints = minutes - minutes // _LATE if record.lasts else record.datapoints
    seconds = period(record.measure, spec.metrics)
    limit = float(spec.scaling.max) if record.lasts and spec.scaling else threshold.value
    return Alarm(
        key=record.key,
        severity=threshold.severity,
        measure=record.measure,
        statistic=record.statistic,
        threshold=_IN_METRIC[record.unit](limit, record.measure, endpoint, machine),
        graph_threshold=limit,
        comparison=record.comparison,
        calls=gate(record, spec),
        period=seconds,
        periods=ceil(minutes * MINUTE / seconds),
        datapoints=ceil(datapoints * MINUTE / seconds),
        missing_data=record.missing_data,
        query=_query(endpoint, record),
    )


def _query(endpoint: EndpointContext, record: AlarmRecord) -> str:
    """Without SCHEMA and dimensions: which ones the container publishes is not documented."""
    metrics = triton_metrics(endpoint.spec)
    if record.needs != "triton" or metrics is None:
        return ""
    name, namespace = triton_metric(record.measure), metrics.namespace
    return f'SELECT MAX({name}) FROM "{namespace}"'  # noqa: S608 - of Metrics Insights, and names alone


def _text(endpoint: EndpointContext, record: AlarmRecord, alarm: Alarm) -> str:
    """The alarm's description, for the person on call."""
    environment = endpoint.environment
    runbook = environment.runbook.rstrip("#") if environment.runbook else RUNBOOK
    gate_text = f"Only minutes with at least {alarm.calls} calls count." if alarm.calls else ""
    parts = (
        f"{endpoint.spec.endpoint} in {environment.environment}: {condition(record, alarm)}.",
        record.means,
        gate_text,
        _MISSING_DATA_TEXTS[alarm.missing_data],
        f"Runbook: {runbook}#{record.runbook}",
    )
    return " ".join(filter(None, parts))
