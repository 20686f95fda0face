"""A rollout with everything decided, as SageMaker's DeploymentConfig takes it."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.context.rollout import RollbackAlarm, rollback_alarms, seconds
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.rollout import Rollout, Strategy


@dataclass(frozen=True, kw_only=True)
class ResolvedRollout:
    """Times in seconds; `step` is the percentage of instances that a step moves, where there are steps."""

    strategy: Strategy
    step: int | None
    bake: int
    termination_wait: int
    timeout: int
    alarms: tuple[RollbackAlarm, ...]


def resolved_rollout(spec: EndpointSpec, rollout: Rollout) -> ResolvedRollout:
    """The rollout of an endpoint whose rules found nothing wrong with it."""
    step = rollout.canary if rollout.strategy is Strategy.CANARY else rollout.step
    return ResolvedRollout(
        strategy=rollout.strategy,
        step=None if step is None else int(step),
        bake=rollout.bake,
        termination_wait=rollout.termination_wait,
        timeout=seconds(spec, rollout),
        alarms=rollback_alarms(spec, rollout),
    )
