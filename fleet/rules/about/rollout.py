"""Rules about rollouts."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.catalog.limits import limit
from fleet.decide.decided import Decided
from fleet.rules.rule import Problem, rule
from fleet.spec.rollout import Rollout, Strategy

GUARDRAILS = "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails.html"
API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DeploymentConfig.html"
TWO = 2
KEY = {Strategy.CANARY: "canary", Strategy.LINEAR: "step", Strategy.ROLLING: "step"}
"""The key that says how large a step is."""
LIMITS = {
    Strategy.CANARY: ("", "canary_percent_max"),
    Strategy.LINEAR: ("linear_step_percent_min", "linear_step_percent_max"),
    Strategy.ROLLING: ("rolling_batch_percent_min", "rolling_batch_percent_max"),
}
"""Of that key, in percent of the fleet."""


@rule("FL280", source=GUARDRAILS)
def instances_for_steps(endpoint: Decided) -> Iterator[Problem]:
    """A rollout in steps has at least two instances to take them with.

    Half of one instance cannot be moved; with scaling, its `min` may be all that runs.
    """
    rollout, scaling = endpoint.spec.rollout, endpoint.spec.scaling
    if rollout is None or rollout.strategy not in KEY:
        return
    fewest = endpoint.spec.instance.count if scaling is None else scaling.min
    if fewest < TWO:
        where = "`count`" if scaling is None else "`scaling.min`"
        message = f"a {rollout.strategy.value} rollout needs 2 instances at least; {where} is {fewest}"
        hint = "write `strategy: all-at-once`, or run 2 instances"
        certain = scaling is None or scaling.max < TWO or endpoint.spec.instance.count < TWO
        yield Problem(("rollout", "strategy"), message, hint, certain)


@rule("FL281", source=API)
def time_for_all_steps(endpoint: Decided) -> Iterator[Problem]:
    """The time-out of a rollout exceeds its waits, and is within what SageMaker takes."""
    rollout = endpoint.spec.rollout
    if rollout is None:
        return
    waits, most = _waits(rollout), limit("rollout_seconds_max")
    if rollout.timeout is not None and rollout.timeout <= waits:
        message = f"`timeout` is {rollout.timeout}s; the waits alone take {waits}s"
        yield Problem(
            ("rollout", "timeout"), message, "write more, or leave it out: then it follows from the waits"
        )
    elif waits >= most:
        message = f"the rollout's waits take {waits}s; SageMaker ends a deployment after {most}s"
        yield Problem(("rollout", "bake"), message, "write a shorter `bake`, or larger steps")


@rule("FL282", source=API)
def steps_in_range(endpoint: Decided) -> Iterator[Problem]:
    """A step is as large as SageMaker takes.

    A canary is half of the fleet at most, a linear step 10% to 50%, a rolling batch 5% to 50%.
    """
    rollout = endpoint.spec.rollout
    key = KEY.get(rollout.strategy) if rollout else None
    if rollout is None or key is None:
        return
    size: float | None = getattr(rollout, key)
    lower, upper = LIMITS[rollout.strategy]
    least, most = limit(lower) if lower else 1, limit(upper)
    if size is not None and not least <= size <= most:
        message = f"`{key}` is {size:g}%; a {rollout.strategy.value} rollout takes {least}% to {most}%"
        yield Problem(("rollout", key), message, f"write `{key}:` and a share in between")


@rule("FL284", source=API, needed=True)
def keys_of_the_strategy(endpoint: Decided) -> Iterator[Problem]:
    """A rollout has the keys of its strategy, and no others."""
    rollout = endpoint.spec.rollout
    if rollout is None:
        return
    wanted, strategy = KEY.get(rollout.strategy), rollout.strategy.value
    if wanted is not None and getattr(rollout, wanted) is None:
        yield Problem(
            ("rollout", "strategy"),
            f"a {strategy} rollout says how large a step is",
            f"write `{wanted}: 50%`",
        )
    for key in ("canary", "step"):
        if key != wanted and getattr(rollout, key) is not None:
            yield Problem(("rollout", key), f"`{key}` means nothing to a rollout {strategy}", "leave it out")
    if rollout.strategy is Strategy.ROLLING and rollout.termination_wait:
        message = "`termination_wait` means nothing to a rolling rollout: it has no second fleet"
        yield Problem(("rollout", "termination_wait"), message, "leave it out")


def _waits(rollout: Rollout) -> int:
    """Seconds that a rollout waits in all, as far as its steps are known."""
    several = rollout.strategy in (Strategy.LINEAR, Strategy.ROLLING)
    steps = ceil(100 / rollout.step) if several and rollout.step else 1
    return steps * rollout.bake + rollout.termination_wait
