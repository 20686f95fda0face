"""The decisions about how many instances run."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.images import cold_start
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.scaling import summed_parts
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.spec.instance import Scaling

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
    for measure, wanted in scaling.targets.items():
        yield _target(endpoint, measure, wanted)
    yield from _schedules(scaling)
    yield _new_instance(endpoint)


def _new_instance(endpoint: EndpointContext) -> Decision:
    """Calls wait, or fail, for as long as a new instance is under way: `min` has to bear them until then."""
    measured = cold_start(endpoint.spec.triton)
    here = "" if measured.release == endpoint.spec.triton else ", as this one's was not measured"
    return Decision(
        group="scaling",
        what="a new instance answers after",
        value=f"about {measured.minutes} minutes",
        reason=(
            f"measured with the image of Triton {measured.release}, {measured.unpacked_gb:g} GB unpacked"
            f"{here}; models that load slowly add to it"
        ),
        facts=(dated_facts("releases.yaml"),),
        certain=not here,
    )


def _target(endpoint: EndpointContext, measure: str, wanted: float) -> Decision:
    metric, machine = endpoint_metric(measure), endpoint.machine
    facts = (dated_facts("metrics.yaml"), dated_facts("instances.yaml"))
    value: str | None = f"{wanted:.15g}"
    reason = f"from `scaling.{measure}`: {_PLAIN.get(measure, '')}"
    if metric.adds_up:
        part, count = _PARTS[metric.adds_up], summed_parts(measure, machine) if machine else 0
        value = f"{wanted * count:.15g} {metric.unit}" if count else None
        reason = f"the catalog has no {part} of {endpoint.spec.instance.type}, and so no metric of it"
        if count:
            reason = (
                f"{wanted:.15g} % of one {part} x {count}, as many as {endpoint.spec.instance.type} has:"
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
