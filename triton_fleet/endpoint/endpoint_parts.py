"""Parts of a resolved endpoint: its scaling, its rollout, its deployment check, its engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.builds.engines.artifacts import EngineBuild, locked_engine
from triton_fleet.builds.engines.endpoint_engines import planned_engines
from triton_fleet.builds.engines.runner import Runner
from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.rollout import RollbackAlarm, rollback_alarms, seconds
from triton_fleet.context.samples import samples_text, warm_targets
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.instance import Scaling, Schedule
from triton_fleet.spec.rollout import Rollout, Strategy
from triton_fleet.spec.source import Mark


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


@dataclass(frozen=True, kw_only=True)
class ResolvedCheck:
    """`samples` is a JSON list; `warm` are TargetModels."""

    samples: str
    warm: tuple[str, ...]


def resolved_check(spec: EndpointSpec) -> ResolvedCheck:
    """The check of an endpoint; without samples it checks only the configuration."""
    return ResolvedCheck(samples=samples_text(spec), warm=warm_targets(spec))


@dataclass(frozen=True, kw_only=True)
class ResolvedEngine:
    """One TensorRT plan.

    Attributes:
        model: The model that it is for, as the repository calls it; copies have other names.
        index: Which entry of the spec's `models` it belongs to; all copies share it.
        build: What it is built from, and its key.
        runner: Who builds it.
        onnx: The ONNX model as the spec names it: a file relative to it, or `s3://BUCKET/KEY.onnx`.
        size: The ONNX model's, in bytes.
        mark: Where in the spec it stands.
    """

    model: str
    index: int
    build: EngineBuild
    runner: Runner
    onnx: str
    size: int
    mark: Mark


def resolved_engines(endpoint: EndpointContext) -> tuple[ResolvedEngine, ...]:
    """The engines that the spec asks for and the lock knows, in the order of the spec."""
    return tuple(_resolve_engines(endpoint))


def _resolve_engines(endpoint: EndpointContext) -> Iterator[ResolvedEngine]:
    for engine_plan in planned_engines(endpoint):
        lock_engine = locked_engine(endpoint.spec, endpoint.archives, engine_plan.index, engine_plan.model)
        if lock_engine is not None:
            yield ResolvedEngine(
                model=engine_plan.model,
                index=engine_plan.index,
                build=engine_plan.build(lock_engine.onnx),
                runner=engine_plan.runner,
                onnx=engine_plan.engine.onnx,
                size=lock_engine.size,
                mark=endpoint.source.mark(engine_plan.path),
            )
