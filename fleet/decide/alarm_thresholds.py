"""Which thresholds hold for an endpoint: those of its spec, else the defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fleet.decide.alarm_records import RECORDS, AlarmRecord, Need
from fleet.decide.decided import Decided
from fleet.spec.alarms import Severity
from fleet.spec.endpoint import EndpointSpec, Mode


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """One threshold of one severity, in the unit of its key; `given` where the spec says it itself."""

    record: AlarmRecord
    severity: Severity
    value: float
    given: bool


def thresholds(spec: EndpointSpec) -> Iterator[Threshold]:
    """All that a spec asks for and all defaults, whether or not the endpoint has the metrics."""
    for record in RECORDS:
        for severity, value in _values(spec, record).items():
            given = _is_given(spec, record)
            yield Threshold(record=record, severity=severity, value=value, given=given)


def lacking(record: AlarmRecord, endpoint: Decided) -> str:
    """Why the endpoint does not have the metric; empty where it has it."""
    has, reason = _NEEDS[record.needs]
    return "" if has(endpoint) else reason.format(type=endpoint.spec.instance.type)


def gate(record: AlarmRecord, spec: EndpointSpec) -> int:
    """In how many calls of a minute an alarm believes; 0 where it looks at every minute."""
    own = spec.alarms.calls if spec.alarms else None
    calls = record.calls if own is None or not record.calls else own
    return calls if calls > 1 else 0


def _values(spec: EndpointSpec, record: AlarmRecord) -> Mapping[Severity, float]:
    if spec.alarms is None:
        return {}
    if _is_given(spec, record):
        own = spec.alarms.thresholds(record.key)
        return {severity or record.severity: value for severity, value in own.items()}
    return record.default if spec.mode in record.default_in else {}


def _is_given(spec: EndpointSpec, record: AlarmRecord) -> bool:
    return spec.alarms is not None and record.key in spec.alarms.model_fields_set


_NEEDS: Mapping[Need, tuple[Callable[[Decided], bool], str]] = {
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
        "`metrics.triton` is off, and Triton alone counts it",
    ),
}
