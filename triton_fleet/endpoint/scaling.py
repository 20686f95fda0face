"""Scaling as Application Auto Scaling gets it: targets in the units of their metrics."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.spec.instance import Scaling, Schedule


@dataclass(frozen=True, kw_only=True)
class TrackedTarget:
    """One target-tracking policy: the catalog's measure and the value to hold, in that metric's own unit."""

    measure: str
    value: float


@dataclass(frozen=True, kw_only=True)
class ResolvedScaling:
    """Capacity in instances, cooldowns in seconds."""

    min: int
    max: int
    scale_in: int
    scale_out: int
    targets: tuple[TrackedTarget, ...]
    schedules: tuple[Schedule, ...]


def resolved_scaling(scaling: Scaling, machine: Instance) -> ResolvedScaling:
    """The scaling of instances of one type; what a metric adds up over an instance, its target does too."""
    return ResolvedScaling(
        min=scaling.min,
        max=scaling.max,
        scale_in=scaling.scale_in,
        scale_out=scaling.scale_out,
        targets=tuple(
            TrackedTarget(measure=measure, value=value * summed_parts(measure, machine))
            for measure, value in scaling.targets.items()
        ),
        schedules=scaling.schedules,
    )


def summed_parts(measure: str, machine: Instance) -> int:
    """How many of an instance's parts the measure's metric adds up; 1 where it adds up none."""
    adds_up = endpoint_metric(measure).adds_up
    return int(getattr(machine, adds_up)) if adds_up else 1
