"""Effects on the calls of an endpoint while its configuration is replaced, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.context.capacity import capacity, least_instances, most_instances
from triton_fleet.context.rollout import rollback_alarms, seconds, steps, waits
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.rollout import Rollout, Strategy

MINUTE, HOUR = 60, 3600


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of a rollout: the percentage of the calls that the new instances answer, and its seconds."""

    share: float
    seconds: int


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The rollout of an update; `shortest` and `longest` in seconds, None where no rollout sets them.

    The start of new instances comes on top of `shortest`, which is the sum of the phases.
    """

    words: str
    shortest: int | None = None
    longest: int | None = None
    phases: tuple[Phase, ...] = ()


@dataclass(frozen=True, kw_only=True)
class InstanceNeed:
    """Instances that AWS has to have: `beside` those that run during the update, `max_instances` later."""

    type: str
    beside: int
    max_instances: int


def update_traffic(spec: EndpointSpec) -> Traffic:
    """How calls move to the new configuration, and what rolls that back."""
    rollout = spec.rollout
    if rollout is None:
        return Traffic(words="all at once, no rollback on alarms")
    bakes = steps(spec, rollout)
    alarms = [
        "errors" if rollback_alarm.measure == "errors_5xx" else f"latency {rollback_alarm.statistic}"
        for rollback_alarm in rollback_alarms(spec, rollout)
    ]
    share = rollout.canary if rollout.strategy is Strategy.CANARY else rollout.step
    part = "" if share is None or rollout.strategy is Strategy.ALL_AT_ONCE else f" {share:.15g} %"
    bake = shown_seconds(rollout.bake)
    watch = f"{bake} + {bake}" if bakes == 2 else f"{bakes} × {bake}" if bakes > 1 else bake
    back = f"rolled back on {', '.join(alarms)}" if alarms else "no rollback on alarms"
    return Traffic(
        words=f"{rollout.strategy.value}{part}, {watch}, {back}",
        shortest=waits(spec, rollout),
        longest=seconds(spec, rollout),
        phases=tuple(_phases(spec, rollout)),
    )


def _phases(spec: EndpointSpec, rollout: Rollout) -> Iterator[Phase]:
    """A bake after each step, and the wait in which the old instances still run without calls.

    Few instances make fewer steps, each of one instance.
    """
    count = steps(spec, rollout)
    first = rollout.canary or max(rollout.step or 0.0, 100 / count)
    for number in range(1, count + 1):
        yield Phase(share=100.0 if number == count else min(100.0, first * number), seconds=rollout.bake)
    if rollout.termination_wait:
        yield Phase(share=100.0, seconds=rollout.termination_wait)


def instance_need(
    before: EndpointSpec | None, after: EndpointSpec, *, is_replaced: bool
) -> InstanceNeed | None:
    """The instances that a change asks of AWS; None where it needs no more than before.

    Args:
        before: What runs; None for a new endpoint.
        after: What is to run.
        is_replaced: Whether the update starts new instances.
    """
    maximum, _ = most_instances(after)
    if before is None:
        return InstanceNeed(type=after.instance.type, beside=after.instance.count, max_instances=maximum)
    if is_replaced:
        counts = {before.instance.type: least_instances(before)}
        return InstanceNeed(
            type=after.instance.type, beside=capacity(after, counts).added_count, max_instances=maximum
        )
    earlier, _ = most_instances(before)
    return (
        InstanceNeed(type=after.instance.type, beside=0, max_instances=maximum) if maximum > earlier else None
    )


def shown_seconds(count: int) -> str:
    """A time as people read it: `10 min`, `1 h 5 min`, `45 s`."""
    hours, minutes, rest = count // HOUR, count % HOUR // MINUTE, count % MINUTE
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
