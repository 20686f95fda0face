"""Scaling as plain props: a range of instances, and what it is tracked by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from triton_endpoints.library.props import Time, written


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
        return self._tracked("invocations_per_instance", per_instance)

    def scale_on_concurrent_requests(self, per_instance: float) -> Scaling:
        """Track the requests that run or wait at one time, for each instance."""
        return self._tracked("concurrent_requests", per_instance)

    def scale_on_gpu_utilization(self, percent: float) -> Scaling:
        """Track the mean utilisation of one GPU, in percent, however many an instance has."""
        return self._tracked("gpu_utilization", percent)

    def scale_on_cpu_utilization(self, percent: float) -> Scaling:
        """Track the mean utilisation of one vCPU, in percent."""
        return self._tracked("cpu_utilization", percent)

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

    def _tracked(self, measure: str, value: float) -> Scaling:
        return replace(self, targets={**self.targets, measure: value})


def scaling_keys(scaling: Scaling) -> dict[str, object]:
    """The keys of a spec."""
    cooldowns = {"scale_in": written(scaling.scale_in), "scale_out": written(scaling.scale_out)}
    schedules = {"schedules": [dict(schedule) for schedule in scaling.schedules]} if scaling.schedules else {}
    return {"min": scaling.min, "max": scaling.max, **cooldowns, **scaling.targets, **schedules}
