"""Which thresholds hold for an endpoint: those of its spec, each with its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from triton_fleet.context.alarm_records import RECORDS, AlarmRecord, Need
from triton_fleet.context.context import EndpointContext
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.endpoint import EndpointSpec, Mode


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """One threshold of one severity, in the unit of its key; `given` where the spec sets it itself."""

    record: AlarmRecord
    severity: AlarmSeverity
    value: float
    given: bool


def thresholds(spec: EndpointSpec, *, only_given: bool = False) -> Iterator[Threshold]:
    """The thresholds of a spec, whether or not the endpoint has the metrics.

    Args:
        spec: The spec.
        only_given: Leave out those that hold by default.
    """
    if spec.alarms is None:
        return
    for record in RECORDS:
        given = record.key in spec.alarms.model_fields_set
        if only_given and not given:
            continue
        for severity, value in spec.alarms.thresholds(record.key, record.severity).items():
            yield Threshold(record=record, severity=severity, value=value, given=given)


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
