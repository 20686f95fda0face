"""Decisions about an endpoint in operation: scaling, rollouts, the deployment check, alarms and dashboard."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.images import cold_start
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.catalog.prices import FACTORS
from triton_fleet.context.alarms import Alarm, Threshold
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import PERIOD, triton_metrics
from triton_fleet.context.rollout import DATAPOINTS, PERIODS
from triton_fleet.context.samples import target_models
from triton_fleet.endpoint.alarms import alarms_with_thresholds, condition
from triton_fleet.endpoint.endpoint_parts import ResolvedRollout, resolved_rollout, summed_parts
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.instance import Scaling
from triton_fleet.spec.prices import PriceBook
from triton_fleet.spec.rollout import Strategy
from triton_fleet.spec.samples import OK, Sample

_PARTS = {"gpus": "GPU", "vcpus": "vCPU"}
_PLAIN = {
    "invocations_per_instance": "calls per minute and instance",
    "concurrent_requests": "requests in progress and waiting, per instance, every ten seconds",
}


def scaling_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """The range of instances, what is held within it, and when it changes."""
    scaling, count = endpoint.spec.scaling, endpoint.spec.instance.count
    if scaling is None:
        reason = "`scaling` is left out: it stays at `instance.count`"
        yield Decision(group="scaling", what="instances", value=str(count), reason=reason)
        return
    several = "; of several targets, the one that asks for most instances wins"
    yield Decision(
        group="scaling",
        what="instances",
        value=f"{scaling.min} to {scaling.max}",
        reason=f"from `scaling.min` and `scaling.max`{several if len(scaling.targets) > 1 else ''}",
    )
    for measure, target in scaling.targets.items():
        yield _target(endpoint, measure, target)
    yield from _schedules(scaling)
    yield _new_instance(endpoint)


def _new_instance(endpoint: EndpointContext) -> Decision:
    """Calls wait, or fail, for as long as a new instance is under way: `min` has to bear them until then."""
    measurement = cold_start(endpoint.spec.triton)
    difference = "" if measurement.release == endpoint.spec.triton else ", as this one's was not measured"
    return Decision(
        group="scaling",
        what="a new instance answers after",
        value=f"about {measurement.minutes} minutes",
        reason=(
            f"measured with the image of Triton {measurement.release}, {measurement.unpacked_gb:g} GB"
            f" unpacked{difference}; models that load slowly add to it"
        ),
        facts=(dated_facts("releases.yaml"),),
        certain=not difference,
    )


def _target(endpoint: EndpointContext, measure: str, target: float) -> Decision:
    metric, machine = endpoint_metric(measure), endpoint.machine
    facts = (dated_facts("metrics.yaml"), dated_facts("instances.yaml"))
    value: str | None = f"{target:.15g}"
    reason = f"from `scaling.{measure}`: {_PLAIN.get(measure, '')}"
    if metric.adds_up:
        part, count = _PARTS[metric.adds_up], summed_parts(measure, machine) if machine else 0
        value = f"{target * count:.15g} {metric.unit}" if count else None
        reason = f"the catalog has no {part} of {endpoint.spec.instance.type}, and so no metric of it"
        if count:
            reason = (
                f"{target:.15g} % of one {part} x {count}, as many as {endpoint.spec.instance.type} has:"
                f" the metric adds up a machine's {part}s"
            )
    return Decision(
        group="scaling",
        what=f"target of {metric.name} ({metric.namespace})",
        value=value,
        reason=reason,
        facts=facts if metric.adds_up else facts[:1],
    )


def _schedules(scaling: Scaling) -> Iterator[Decision]:
    for schedule in scaling.schedules:
        ends = {"min": schedule.min, "max": schedule.max}
        yield Decision(
            group="scaling",
            what=f"schedule {schedule.name}",
            value=", ".join(f"{key} {count}" for key, count in ends.items() if count is not None),
            reason=f"from {schedule.at} in {schedule.time_zone} on; targets still apply within the range",
        )


def rollout_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """Strategy, time-out and alarms of a rollout."""
    spec = endpoint.spec
    if spec.rollout is None:
        reason = "`rollout` is left out: all calls move at once, and nothing rolls them back"
        yield Decision(group="rollout", what="strategy", value="all-at-once", reason=reason)
        yield _second_fleet(0)
        return
    rollout = resolved_rollout(spec, spec.rollout)
    order = "first, then the rest" if rollout.strategy is Strategy.CANARY else "at a time"
    step = "" if rollout.step is None else f", {rollout.step}% {order}"
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


def _second_fleet(seconds: int) -> Decision:
    reason = f"a second fleet; the first is kept for {seconds}s after the last step"
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
            reason=f"of the new configuration only, in {DATAPOINTS} of {PERIODS} periods of {PERIOD}s",
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
        target = f" of {targets.get(sample.target, sample.target)}" if sample.target else ""
        reason = f"called{target} after each deploy, which is rolled back unless it is answered so"
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


def alarm_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """Each alarm with its condition, and who hears of each severity."""
    alarms = list(alarms_with_thresholds(endpoint))
    for threshold, alarm in alarms:
        yield Decision(
            group="alarms",
            what=f"{alarm.key}, {alarm.severity}",
            value=condition(threshold.record, alarm),
            reason=_reason(threshold, alarm),
            facts=(dated_facts("metrics.yaml"),),
        )
    if not alarms:
        reason = "`alarms` is `null`, or each of its keys is: only a `rollout` is watched"
        yield Decision(group="alarms", what="alarms", value="none", reason=reason)
    notifications, owner = endpoint.environment.notifications, endpoint.spec.owner
    own = notifications.owners.get(owner.team) if owner else None
    topics = notifications if own is None else own
    key = "notifications" if own is None or owner is None else f"notifications.owners.{owner.team}"
    for severity, subscribers in topics.by_severity.items():
        if any(alarm.severity == severity for _, alarm in alarms):
            yield Decision(
                group="alarms",
                what=f"{severity} goes to",
                value=", ".join(subscribers) or "nobody",
                reason=f"from the environment's `{key}.{severity}`"
                if subscribers
                else f"the environment has no `{key}.{severity}`; others may have subscribed by hand",
            )


def _reason(threshold: Threshold, alarm: Alarm) -> str:
    notes = [f"from `alarms.{alarm.key}`"]
    if not threshold.is_given:
        notes = [f"a default; `alarms: {{{alarm.key}: null}}` switches it off"]
    if alarm.calls:
        notes.append(f"minutes with fewer than {alarm.calls} calls do not count")
    if threshold.record.unit == "part" and alarm.threshold > alarm.graph_threshold:
        notes.append(f"deployed as {alarm.threshold:g}: the metric adds up a machine's parts")
    if threshold.record.unit == "instances" and alarm.threshold > alarm.graph_threshold:
        notes.append(f"deployed as {alarm.threshold:g}: each instance publishes several values a minute")
    return "; ".join(notes)


def dashboard_decisions(endpoint: EndpointContext, prices: PriceBook) -> Iterator[Decision]:
    """Whether there is one, what it costs, and how it finds Triton's metrics."""
    if not endpoint.environment.dashboards:
        reason = "the environment's `dashboards` is off"
        yield Decision(group="dashboard", what="dashboard", value="none", reason=reason)
        return
    price = prices.dashboards(1)
    price_text = "an unknown price" if price is None else f"{price} {prices.currency}"
    yield Decision(
        group="dashboard",
        what="dashboard",
        value="one of its own",
        reason=f"`dashboards` of the environment; in an account {price_text} a month,"
        " which `dashboards: false` saves",
        facts=(dated_facts(FACTORS),),
    )
    metrics = triton_metrics(endpoint.spec)
    if metrics is None:
        return
    value, reason = ", ".join(metrics.dimensions), "`metrics.triton_dimensions`"
    if endpoint.spec.mode is Mode.SHARED_CONTAINER:
        reason = "Triton's labels, with which the shared container publishes them"
    if not metrics.dimensions:
        value = "whatever they are"
        reason = (
            "not documented: metrics are found by their names, until `metrics.triton_dimensions` names them"
        )
    yield Decision(group="dashboard", what="dimensions of Triton's metrics", value=value, reason=reason)
