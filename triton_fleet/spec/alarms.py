"""Alarm thresholds, each of one severity or of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from triton_fleet.spec.values import Count, Document, Milliseconds, Seconds, Share

AlarmSeverity: TypeAlias = Literal["warning", "critical"]
SEVERITIES: tuple[AlarmSeverity, ...] = ("warning", "critical")
"""Severities: `warning` can wait for the working day, the other cannot."""
MINUTE = 60


def _whole_minutes(seconds: int) -> int:
    if seconds % MINUTE:
        raise ValueError("alarms evaluate whole minutes: write `15m` or `1h`")
    return seconds


LongDuration = Annotated[Seconds, AfterValidator(_whole_minutes), Field(ge=MINUTE, le=86_400)]


class BySeverity(Document):
    """A threshold for each severity; one that is left out has no alarm."""

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if not self.thresholds:
            raise ValueError(
                "it has no threshold: set `warning`, `critical` or both, or write `null` for the alarm"
            )
        return self

    @property
    def thresholds(self) -> Mapping[AlarmSeverity, float]:
        """By severity, in the key's unit."""
        values = {severity: getattr(self, severity) for severity in SEVERITIES}
        return {severity: value for severity, value in values.items() if value is not None}


class Times(BySeverity):
    """Milliseconds by severity."""

    warning: Milliseconds | None = None
    """The threshold for those who look after the endpoint in working hours."""
    critical: Milliseconds | None = None
    """The threshold for the person on call."""


class Shares(BySeverity):
    """Shares by severity."""

    warning: Share | None = None
    """The threshold for those who look after the endpoint in working hours."""
    critical: Share | None = None
    """The threshold for the person on call."""


class Durations(BySeverity):
    """Durations by severity."""

    warning: LongDuration | None = None
    """The threshold for those who look after the endpoint in working hours."""
    critical: LongDuration | None = None
    """The threshold for the person on call."""


class Counts(BySeverity):
    """Numbers by severity."""

    warning: Count | None = None
    """The threshold for those who look after the endpoint in working hours."""
    critical: Count | None = None
    """The threshold for the person on call."""


VALUE, MAP = "[value]", "[severities]"
"""How pydantic names the two forms in the place of a mistake; no keys of a spec."""


def _form(value: object) -> str:
    return MAP if isinstance(value, dict | BySeverity) else VALUE


Time = Annotated[Annotated[Milliseconds, Tag(VALUE)] | Annotated[Times, Tag(MAP)], Discriminator(_form)]
Part = Annotated[Annotated[Share, Tag(VALUE)] | Annotated[Shares, Tag(MAP)], Discriminator(_form)]
Duration = Annotated[
    Annotated[LongDuration, Tag(VALUE)] | Annotated[Durations, Tag(MAP)], Discriminator(_form)
]
Number = Annotated[Annotated[Count, Tag(VALUE)] | Annotated[Counts, Tag(MAP)], Discriminator(_form)]


class Alarms(Document):
    """Thresholds: one value, or `{warning: 200ms, critical: 1s}`; `null` for no alarm."""

    latency_p50: Time | None = None
    """Median latency of the container."""
    latency_p90: Time | None = None
    """90th percentile of the container's latency."""
    latency_p99: Time | None = None
    """99th percentile of the container's latency."""
    overhead_p99: Time | None = None
    """99th percentile of the latency that SageMaker adds to the container's."""
    errors: Part | None = Shares.model_validate({"warning": "1%", "critical": "5%"})
    """Share of calls that fail with a 5xx status."""
    client_errors: Part | None = None
    """Share of calls that fail with a 4xx status."""
    model_errors: Part | None = None
    """Share of calls that get no valid answer with a 2xx status from the container in time."""
    gpu_utilization: Part | None = None
    """Mean utilisation of one GPU."""
    gpu_memory: Part | None = None
    """Memory of one GPU in use, on the fullest instance."""
    cpu_utilization: Part | None = None
    """Mean utilisation of one vCPU."""
    memory: Part | None = Shares.model_validate({"warning": "90%"})
    """Memory in use, on the fullest instance; in mode `multi-model` there is no default alarm."""
    disk: Part | None = Shares.model_validate({"warning": "85%"})
    """Disk in use, on the fullest instance; in mode `multi-model` there is no default alarm."""
    at_capacity: Duration | None = None
    """With `scaling`: how long as many instances run as its `max`; whole minutes, at most 24h."""
    model_load: Time | None = None
    """Mode `multi-model`: how long the container takes to load a model, on average."""
    loading_wait: Time | None = None
    """Mode `multi-model`: how long a call waits for its model, on average."""
    cache_hits: Part | None = None
    """Mode `multi-model`: minimum share of calls whose model is already loaded."""
    pending_requests: Number | None = None
    """With `metrics.triton`: requests that wait in Triton's queue."""
    calls: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    """Minimum calls in a minute for alarms on latencies and shares to fire; 0 and 1: they may fire in every
    minute. Default: each alarm has its own number, 5 to 20."""

    def of_several_models(self) -> Alarms:
        """These without the defaults that SageMaker exceeds: it fills memory and disk with models."""
        return self.model_copy(update=dict.fromkeys({"memory", "disk"} - self.model_fields_set))

    def thresholds(self, key: str, single: AlarmSeverity) -> Mapping[AlarmSeverity, float]:
        """The thresholds of a key by severity, empty without any; `single` is the severity of one value."""
        value = getattr(self, key)
        if isinstance(value, BySeverity):
            return value.thresholds
        return {} if value is None else {single: value}
