"""The decisions about alarms and the dashboard."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.prices import OTHER
from triton_fleet.context.alarms import Alarm, Threshold
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import triton_metrics
from triton_fleet.endpoint.alarms import alarms_with_thresholds, condition
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.prices import PriceBook


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
    notified = notifications if own is None else own
    key = "notifications" if own is None or owner is None else f"notifications.owners.{owner.team}"
    for severity, subscribers in notified.by_severity.items():
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
    if not threshold.given:
        notes = [f"a default; `alarms: {{{alarm.key}: null}}` switches it off"]
    if alarm.calls:
        notes.append(f"minutes with fewer than {alarm.calls} calls do not count")
    if threshold.record.unit == "part" and alarm.threshold > alarm.drawn:
        notes.append(f"deployed as {alarm.threshold:g}: the metric adds up a machine's parts")
    if threshold.record.unit == "instances" and alarm.threshold > alarm.drawn:
        notes.append(f"deployed as {alarm.threshold:g}: each instance publishes several values a minute")
    return "; ".join(notes)


def dashboard_decisions(endpoint: EndpointContext, prices: PriceBook) -> Iterator[Decision]:
    """Whether there is one, what it costs, and how it finds Triton's metrics."""
    if not endpoint.environment.dashboards:
        reason = "the environment's `dashboards` is off"
        yield Decision(group="dashboard", what="dashboard", value="none", reason=reason)
        return
    price = prices.dashboards(1)
    monthly = "an unknown price" if price is None else f"{price} {prices.currency}"
    yield Decision(
        group="dashboard",
        what="dashboard",
        value="one of its own",
        reason=f"`dashboards` of the environment; in an account {monthly} a month,"
        " which `dashboards: false` saves",
        facts=(dated_facts(OTHER),),
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
