"""Rules about rollouts."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.limits import limit
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.rollout import (
    LATENCIES,
    METRIC_DELAY_SECONDS,
    MIN_BAKE_SECONDS,
    rollback_alarms,
    rollout_seconds,
    waits,
)
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import POOL, Problem, rule
from triton_fleet.spec.problems import dotted_path
from triton_fleet.spec.rollout import Strategy

GUARDRAILS = "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails.html"
API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DeploymentConfig.html"
EXCLUSIONS = "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html"
MIN_INSTANCES = 2
KEY = {Strategy.CANARY: "canary", Strategy.LINEAR: "step", Strategy.ROLLING: "step"}
"""The key for the size of a step."""
LIMITS = {
    Strategy.CANARY: ("", "canary_percent_max"),
    Strategy.LINEAR: ("linear_step_percent_min", "linear_step_percent_max"),
    Strategy.ROLLING: ("rolling_batch_percent_min", "rolling_batch_percent_max"),
}
"""The limits of that key, in percent of the fleet."""


@rule("FL280", source=GUARDRAILS)
def rollout_without_second_instance(endpoint: EndpointContext) -> Iterator[Problem]:
    """A rollout in steps has at least two instances.

    A single instance cannot be moved in steps. With scaling, the lowest `min` of `scaling` and its schedules
    counts.
    """
    rollout, scaling = endpoint.spec.rollout, endpoint.spec.scaling
    if rollout is None or rollout.strategy not in KEY:
        return
    floors = {("instance", "count"): endpoint.spec.instance.count} if scaling is None else scaling.floors
    path, fewest = min(floors.items(), key=lambda floor: floor[1])
    if fewest < MIN_INSTANCES:
        key_text = f"`{dotted_path(path)}` is {fewest}"
        message = f"a {rollout.strategy.value} rollout needs at least 2 instances; {key_text}"
        hint = "write `strategy: all-at-once`, or run 2 instances"
        certain = (
            scaling is None
            or scaling.max_instances < MIN_INSTANCES
            or endpoint.spec.instance.count < MIN_INSTANCES
        )
        yield Problem(("rollout", "strategy"), message, hint, certain)


@rule("FL281", source=API)
def rollout_timeout_out_of_range(endpoint: EndpointContext) -> Iterator[Problem]:
    """The time-out of a rollout is longer than its waits and within SageMaker's limit.

    A canary bakes twice: after its first share and after the rest.
    """
    spec, rollout = endpoint.spec, endpoint.spec.rollout
    if rollout is None:
        return
    total, maximum = waits(spec, rollout), limit("rollout_seconds_max")
    if rollout.timeout is not None and rollout.timeout <= total:
        message = f"`timeout` is {rollout.timeout}s; the waits alone take {total}s"
        yield Problem(
            ("rollout", "timeout"),
            message,
            "write a longer one, or leave it out to compute it from the waits",
        )
    elif total >= maximum:
        message = f"the rollout's waits take {total}s; SageMaker ends a deployment after {maximum}s"
        yield Problem(("rollout", "bake"), message, "write a shorter `bake`, or larger steps")
    elif rollout.timeout is None and rollout_seconds(spec, rollout) > maximum:
        message = (
            f"waits and starts may take {rollout_seconds(spec, rollout)}s;"
            f" SageMaker ends a deployment after {maximum}s"
        )
        hint = "write a shorter `bake`, or larger steps"
        yield Problem(("rollout", "strategy"), message, hint, certain=False)


@rule("FL282", source=API)
def rollout_step_out_of_range(endpoint: EndpointContext) -> Iterator[Problem]:
    """The size of a step is within SageMaker's limits.

    A canary is at most half of the fleet, a linear step 10% to 50%, a rolling batch 5% to 50%, all in whole
    percent.
    """
    rollout = endpoint.spec.rollout
    key = KEY.get(rollout.strategy) if rollout else None
    if rollout is None or key is None:
        return
    size: float | None = getattr(rollout, key)
    lower, upper = LIMITS[rollout.strategy]
    minimum, maximum = limit(lower) if lower else 1, limit(upper)
    if size is not None and not minimum <= size <= maximum:
        message = f"`{key}` is {size:g}%; a {rollout.strategy.value} rollout accepts {minimum}% to {maximum}%"
        yield Problem(("rollout", key), message, "write a share in that range")
    elif size is not None and not size.is_integer():
        message = f"`{key}` is {size:g}%; SageMaker accepts only whole percent"
        yield Problem(("rollout", key), message, f"write `{key}: {round(size)}%`")


@rule("FL284", source=API, is_needed=True)
def rollout_key_mismatch(endpoint: EndpointContext) -> Iterator[Problem]:
    """A rollout has the keys of its strategy, and no others."""
    rollout = endpoint.spec.rollout
    if rollout is None:
        return
    own_key, strategy = KEY.get(rollout.strategy), rollout.strategy.value
    if own_key is not None and getattr(rollout, own_key) is None:
        yield Problem(
            ("rollout", "strategy"),
            f"a {strategy} rollout needs `{own_key}`, the size of a step",
            f"write `{own_key}: 50%`",
        )
    for key in ("canary", "step"):
        if key != own_key and getattr(rollout, key) is not None:
            hint = f"leave it out; where an environment gives it, write `{key}: null`"
            yield Problem(("rollout", key), f"`{key}` has no effect with the strategy {strategy}", hint)
    if rollout.strategy is Strategy.ROLLING and rollout.termination_wait:
        message = "`termination_wait` has no effect on a rolling rollout, which has no second fleet"
        yield Problem(("rollout", "termination_wait"), message, "leave it out")


@POOL.rule("FL276", source=EXCLUSIONS)
def rollout_of_unsupported_instance(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker's deployment guardrails support the instance type.

    They do not support Inf1: SageMaker refuses a rollout there.
    """
    machine = endpoint.machine
    if endpoint.spec.rollout is not None and machine is not None and machine.family == "inf1":
        message = f"SageMaker's deployment guardrails do not support {machine.type}"
        yield Problem(("rollout",), message, "leave `rollout` out, or use an instance with a GPU")


@rule("FL283", source=API, is_needed=True)
def rollback_without_threshold(endpoint: EndpointContext) -> Iterator[Problem]:
    """A rollout that is rolled back on latency has a threshold for it.

    Errors have a default threshold in `alarms`; no default latency would be right for all models.
    """
    rollout, alarms = endpoint.spec.rollout, endpoint.spec.alarms
    if rollout is None or "latency" not in (rollout.rollback_on or ()):
        return
    if all(getattr(alarms, key, None) is None for key in LATENCIES):
        message = "`rollback_on` names `latency`, but `alarms` has no threshold for it"
        yield Problem(("rollout", "rollback_on"), message, "write `alarms: {latency_p99: 200ms}`")


@rule("FL277", Severity.WARNING, source=API)
def bake_too_short(endpoint: EndpointContext) -> Iterator[Problem]:
    """A step bakes at least as long as its alarms need to fire: five minutes.

    They evaluate three minutes of the new configuration's metrics, which begin with its traffic and come
    late: two minutes are assumed. A shorter bake ends before they can roll back the update.
    """
    rollout, minimum = endpoint.spec.rollout, MIN_BAKE_SECONDS + METRIC_DELAY_SECONDS
    if rollout is not None and rollback_alarms(endpoint.spec, rollout) and rollout.bake < minimum:
        message = (
            f"`bake` is {rollout.bake}s; the alarms evaluate {MIN_BAKE_SECONDS}s of metrics that begin with"
            " the traffic of the new configuration"
        )
        yield Problem(("rollout", "bake"), message, f"write `bake: {minimum}s` or more")


@rule("FL278", Severity.WARNING, source=GUARDRAILS)
def rollout_without_alarms(endpoint: EndpointContext) -> Iterator[Problem]:
    """A rollout can be rolled back.

    `rollback_on: []` is for emergencies: to deploy a fixed model while the alarms of the broken one fire.
    """
    rollout = endpoint.spec.rollout
    if rollout is not None and rollout.rollback_on == ():
        message = "`rollback_on` is empty: nothing rolls back this update"
        yield Problem(("rollout", "rollback_on"), message, "leave it out when the emergency is over")
