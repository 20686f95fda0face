"""The decisions about how a new configuration takes over, and what the endpoint is asked then."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import PERIOD
from triton_fleet.context.rollout import PERIODS, RINGING
from triton_fleet.context.samples import target_models
from triton_fleet.endpoint.rollout import ResolvedRollout, resolved_rollout
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.spec.rollout import Strategy
from triton_fleet.spec.samples import OK, Sample


def rollout_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """Strategy, time-out and alarms of a rollout."""
    spec = endpoint.spec
    if spec.rollout is None:
        reason = "`rollout` is left out: all calls move at once, and nothing rolls them back"
        yield Decision(group="rollout", what="strategy", value="all-at-once", reason=reason)
        yield _second_fleet(0)
        return
    rollout = resolved_rollout(spec, spec.rollout)
    how = "first, then the rest" if rollout.strategy is Strategy.CANARY else "at a time"
    step = "" if rollout.step is None else f", {rollout.step}% {how}"
    yield Decision(
        group="rollout",
        what="strategy",
        value=f"{rollout.strategy.value}{step}",
        reason=f"from `rollout`: what has moved is watched for {rollout.bake}s",
    )
    if rollout.strategy is not Strategy.ROLLING:
        yield _second_fleet(rollout.termination_wait)
    own = spec.rollout.timeout is not None
    reason = "from `rollout.timeout`" if own else "its waits, and the time that new instances may take"
    yield Decision(group="rollout", what="time-out", value=f"{rollout.timeout}s", reason=reason)
    yield from _alarms(rollout)


def _second_fleet(kept: int) -> Decision:
    reason = f"a second fleet; the first is kept for {kept}s after the last step"
    return Decision(group="rollout", what="instances during an update", value="twice as many", reason=reason)


def _alarms(rollout: ResolvedRollout) -> Iterator[Decision]:
    facts = (dated_facts("metrics.yaml"),)
    for alarm in rollout.alarms:
        metric = endpoint_metric(alarm.measure)
        unit = "" if metric.unit == "None" else f" {metric.unit}"
        yield Decision(
            group="rollout",
            what="rolled back by",
            value=f"{alarm.statistic} of {metric.name} above {alarm.threshold:.15g}{unit}",
            reason=f"of the new configuration only, in {RINGING} of {PERIODS} periods of {PERIOD}s",
            facts=facts,
        )
    if not rollout.alarms:
        reason = "`alarms` has no threshold for what `rollback_on` names; `[]` is for emergencies"
        yield Decision(group="rollout", what="rolled back by", value="nothing", reason=reason)


def check_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """Checks that a deploy ends with: the configuration that runs, targets that are loaded, calls."""
    spec, targets = endpoint.spec, target_models(endpoint.spec)
    reason = "SageMaker may roll an update back and report success; a deploy fails then"
    yield Decision(group="check", what="configuration", value="in service with the new one", reason=reason)
    for name in spec.warm:
        yield Decision(group="check", what="loaded", value=targets.get(name, name), reason="from `warm`")
    for sample in spec.samples:
        called = f" of {targets.get(sample.target, sample.target)}" if sample.target else ""
        reason = f"called{called} after each deploy, which is rolled back unless it is answered so"
        yield Decision(group="check", what=f"sample {sample.name}", value=_sample_text(sample), reason=reason)
    if not spec.samples:
        reason = "`samples` is left out: a model that loads and answers wrongly is deployed"
        yield Decision(group="check", what="samples", value="none", reason=reason)


def _sample_text(sample: Sample) -> str:
    if sample.status != OK:
        return f"refused with status {sample.status}"
    outputs = []
    for name, output in sample.outputs.items():
        shape = None if output.shape is None else str(list(output.shape))
        parts = [output.datatype and output.datatype.value, shape]
        near = "" if output.tolerance is None else f" within {output.tolerance:.15g}"
        if output.data is not None:
            parts.append(f"values{near}")
        if output.first is not None:
            parts.append(f"first {len(output.first)} values{near}")
        outputs.append(" ".join([name, *filter(None, parts)]))
    return ", ".join(outputs) or "answered with status 200"
