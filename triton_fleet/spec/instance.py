"""Instances behind the endpoint: type, waits for new ones, and scaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from triton_fleet.spec.schedule import Expression, TimeZone
from triton_fleet.spec.source import KeyPath
from triton_fleet.spec.values import Count, Document, Name, Percent, Seconds, first_duplicate

InstanceType = Annotated[str, StringConstraints(pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$")]


class Instance(Document):
    """The instances that serve the endpoint."""

    type: InstanceType
    """SageMaker instance type, such as `ml.g5.xlarge`."""
    ami: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")] | None = None
    """Host image, SageMaker's InferenceAmiVersion; default: the one whose driver fits release and family."""
    count: Count = 1
    """Number of instances; with `scaling`, only at the first deploy."""


class Timeouts(Document):
    """How long SageMaker waits for a new instance."""

    model_download: Annotated[Seconds, Field(ge=60, le=3600)] = 600
    """Time for the model data to download, 60s to 1h."""
    startup: Annotated[Seconds, Field(ge=60, le=3600)] = 600
    """Time for the container to answer its first ping, 60s to 1h."""


MEASURES = ("invocations_per_instance", "concurrent_requests", "gpu_utilization", "cpu_utilization")
"""Measures that can have a target, by their names in the metrics catalog; each is a key of `scaling`."""

Fewest = Annotated[int, Field(ge=0, le=2**31 - 1, json_schema_extra={"minimum": 1})]
"""At least 1; the contract takes 0, so that FL270 can explain why SageMaker does not."""
Cooldown = Annotated[Seconds, Field(le=86_400)]
Target = Annotated[float, Field(gt=0, le=1e9)]


class Schedule(Document):
    """A change of the instance range at a given time."""

    name: Name
    """Name of the scheduled action."""
    at: Expression
    """When: `cron(0 8 ? * MON-FRI *)` with the fields of EventBridge, `rate(12 hours)`, or once
    `at(2026-12-24T18:00:00)`."""
    time_zone: TimeZone = "UTC"
    """IANA name of the time zone that `at` is in, such as `Europe/Berlin`."""
    min: Fewest | None = None
    """Minimum number of instances from then on; default: unchanged."""
    max: Count | None = None
    """Maximum number of instances from then on; default: unchanged."""

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("it changes nothing: give `min`, `max` or both")
        return self


class Scaling(Document):
    """Target tracking and scheduled scaling of the endpoint's variant."""

    min: Fewest
    """Minimum number of instances."""
    max: Count
    """Maximum number of instances."""
    invocations_per_instance: Target | None = None
    """Target for the invocations per minute and instance."""
    concurrent_requests: Target | None = None
    """Target for the requests that run or wait on each instance at the same time; measured every 10
    seconds."""
    gpu_utilization: Percent | None = None
    """Target for the mean utilisation of one GPU, in percent."""
    cpu_utilization: Percent | None = None
    """Target for the mean utilisation of one vCPU, in percent."""
    scale_in: Cooldown = 600
    """Time to wait after removing instances, at most 24h."""
    scale_out: Cooldown = 200
    """Time to wait after adding instances, at most 24h."""
    schedules: tuple[Schedule, ...] = Field(default=(), strict=False)
    """Changes of the instance range at given times; targets apply within it."""

    @property
    def targets(self) -> Mapping[str, float]:
        """The targets that the spec sets, by measure."""
        values = {measure: getattr(self, measure) for measure in MEASURES}
        return {measure: value for measure, value in values.items() if value is not None}

    @property
    def max_instances(self) -> int:
        """The most instances that may run, by any schedule."""
        return max(self.ceilings.values())

    @property
    def ceilings(self) -> Mapping[KeyPath, int]:
        """The most instances, by default and in each schedule that sets it, by their keys in the spec."""
        return self._bounds("max")

    @property
    def floors(self) -> Mapping[KeyPath, int]:
        """The fewest instances, by default and in each schedule that sets it, by their keys in the spec."""
        return self._bounds("min")

    def _bounds(self, end: str) -> Mapping[KeyPath, int]:
        bounds: dict[KeyPath, int | None] = {("scaling", end): getattr(self, end)}
        for index, schedule in enumerate(self.schedules):
            bounds["scaling", "schedules", index, end] = getattr(schedule, end)
        return {path: count for path, count in bounds.items() if count is not None}

    @model_validator(mode="after")
    def _has_range_and_target(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"`min` is {self.min} and `max` is {self.max}: `min` must not exceed `max`")
        if not self.targets and not self.schedules:
            measures = ", ".join(f"`{measure}`" for measure in MEASURES)
            raise ValueError(f"nothing to scale on: set one or more of {measures}, `schedules`")
        if name := first_duplicate(schedule.name for schedule in self.schedules):
            raise ValueError(f"two schedules are named {name!r}")
        return self
