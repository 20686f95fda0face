"""Plain props: the keys of a spec as Python objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from aws_cdk import Duration

Time: TypeAlias = str | Duration
"""A time with its unit, `"600s"` or `"10m"`, or a Duration of the CDK."""
ThresholdValue: TypeAlias = str | int | Duration
Threshold: TypeAlias = ThresholdValue | Mapping[Literal["warning", "critical"], ThresholdValue] | None
"""`"200ms"`, `"1%"`, a Duration, or one value by severity; None for no alarm. A number that is a token is in
CloudWatch's own unit: microseconds, a share of 1, or percent added up over an instance."""
Keys: TypeAlias = Mapping[str, object]
"""Keys of a spec's section, as docs/spec.md has them."""


class _Unset:
    def __repr__(self) -> str:
        """As signatures show it."""
        return "unset"


UNSET: Any = _Unset()
"""The default of a prop that is left out, where None has a meaning of its own; no value to write."""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """The instances that serve the endpoint: `instance` of a spec."""

    type: str
    count: int = 1
    ami: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """How a new configuration takes over, and what rolls it back: `rollout` of a spec."""

    strategy: Literal["all-at-once", "canary", "linear", "rolling"] = "all-at-once"
    canary: str | None = None
    step: str | None = None
    bake: Time = UNSET
    termination_wait: Time = UNSET
    timeout: Time | None = None
    rollback_on: Sequence[Literal["errors", "latency"]] | None = None


@dataclass(frozen=True, kw_only=True)
class Alarms:
    """Thresholds of the operators' alarms: `alarms` of a spec, with its defaults."""

    latency_p50: Threshold = None
    latency_p90: Threshold = None
    latency_p99: Threshold = None
    overhead_p99: Threshold = None
    errors: Threshold = UNSET
    client_errors: Threshold = None
    model_errors: Threshold = None
    gpu_utilization: Threshold = None
    gpu_memory: Threshold = None
    cpu_utilization: Threshold = None
    memory: Threshold = UNSET
    disk: Threshold = UNSET
    at_capacity: Threshold = None
    model_load: Threshold = None
    loading_wait: Threshold = None
    cache_hits: Threshold = None
    pending_requests: Threshold = None
    calls: int | None = None


@dataclass(frozen=True, kw_only=True)
class Capture:
    """Which calls are kept in the artifact bucket: `capture` of a spec."""

    sample: str | float
    """`"10%"`, or the percentage as a number."""
    requests: bool = True
    responses: bool = True


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """A range of instances and its targets: `scaling` of a spec.

    Each method returns another Scaling with one more target: the rules of an endpoint look at all of it, so
    it is whole before the endpoint is declared.
    """

    min: int
    max: int
    scale_in: Time = "600s"
    scale_out: Time = "200s"
    targets: Mapping[str, float] = field(default_factory=dict)
    schedules: tuple[Mapping[str, object], ...] = ()

    def scale_on_invocations(self, per_instance: float) -> Scaling:
        """Track the invocations per minute and instance."""
        return self._with_target("invocations_per_instance", per_instance)

    def scale_on_concurrent_requests(self, per_instance: float) -> Scaling:
        """Track the requests that run or wait at one time, for each instance."""
        return self._with_target("concurrent_requests", per_instance)

    def scale_on_gpu_utilization(self, percent: float) -> Scaling:
        """Track the mean utilisation of one GPU, in percent, however many an instance has."""
        return self._with_target("gpu_utilization", percent)

    def scale_on_cpu_utilization(self, percent: float) -> Scaling:
        """Track the mean utilisation of one vCPU, in percent."""
        return self._with_target("cpu_utilization", percent)

    def scale_on_schedule(
        self, name: str, at: str, *, time_zone: str = "UTC", min: int | None = None, max: int | None = None
    ) -> Scaling:
        """Change the range at given times.

        Args:
            name: What the scheduled action is called.
            at: `cron(0 8 ? * MON-FRI *)`, `rate(12 hours)` or `at(2026-12-24T18:00:00)`.
            time_zone: IANA name of the time zone that `at` is in.
            min: Fewest instances from then on; default: as it is.
            max: Most instances from then on; default: as it is.
        """
        range = {key: value for key, value in {"min": min, "max": max}.items() if value is not None}
        schedule = {"name": name, "at": at, "time_zone": time_zone, **range}
        return replace(self, schedules=(*self.schedules, schedule))

    def _with_target(self, measure: str, value: float) -> Scaling:
        return replace(self, targets={**self.targets, measure: value})
