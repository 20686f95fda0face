"""Rules about scaling."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import kinds
from triton_fleet.context.raw import raw_properties
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import POOL, Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.schedule import unreachable_time

SCALING = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html"
METRICS = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
MULTI_MODEL = "https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-endpoints-autoscaling.html"
ASYNC = "https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-autoscale.html"
SCHEDULES = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScheduledAction.html"


@rule("FL270", source=SCALING, is_needed=True)
def scaling_to_zero(endpoint: EndpointContext) -> Iterator[Problem]:
    """A scaled endpoint keeps at least one instance, in its schedules as well.

    Without instances nothing measures the calls that would scale the endpoint out again, and SageMaker
    refuses it; only inference components start from zero.
    """
    scaling = endpoint.spec.scaling
    for path, count in (scaling.floors if scaling else {}).items():
        if count == 0:
            message = "`min` is 0: an endpoint without instances has no metric that would bring one back"
            yield Problem(path, message, "write `min: 1`; to stop paying, destroy the endpoint")


@rule("FL271", Severity.WARNING, source=SCALING)
def initial_count_out_of_range(endpoint: EndpointContext) -> Iterator[Problem]:
    """`instance.count` is within the range of `scaling`.

    Scaling changes a count outside of its range at once, after the instances were billed.
    """
    scaling, count = endpoint.spec.scaling, endpoint.spec.instance.count
    if scaling is not None and not scaling.min <= count <= scaling.max:
        message = f"`count` is {count}, outside of the range of `scaling`: {scaling.min} to {scaling.max}"
        yield Problem(
            ("instance", "count"), message, f"write a count from {max(scaling.min, 1)} to {scaling.max}"
        )


@POOL.rule("FL272", source=METRICS, is_needed=True)
def unmeasured_scaling_target(endpoint: EndpointContext) -> Iterator[Problem]:
    """The endpoint has the metric that it is scaled on.

    An instance without a GPU has no GPU utilisation: the policy would silently do nothing.
    """
    scaling, machine = endpoint.spec.scaling, endpoint.machine
    if scaling is None or machine is None:
        return
    for measure in scaling.targets:
        if not kinds(endpoint.spec.mode, machine) & set(endpoint_metric(measure).kinds):
            message = f"{machine.type} has no metric for `{measure}`"
            yield Problem(("scaling", measure), message, "scale on `invocations_per_instance`")


@POOL.rule("FL273", source=SCALING)
def scaling_of_burstable_instance(endpoint: EndpointContext) -> Iterator[Problem]:
    """Burstable instances are not scaled.

    SageMaker does not scale T2; nothing is published about T3.
    """
    machine = endpoint.machine
    if endpoint.spec.scaling is not None and machine is not None and machine.burstable:
        message = f"{machine.type} is burstable; SageMaker does not scale burstable instances"
        yield Problem(
            ("scaling",), message, "leave `scaling` out, or use another type", machine.family == "t2"
        )


@rule("FL274", Severity.WARNING, source=SCALING)
def empty_scaling_range(endpoint: EndpointContext) -> Iterator[Problem]:
    """`scaling.min` is less than `scaling.max`."""
    scaling = endpoint.spec.scaling
    if scaling is not None and scaling.min == scaling.max and not scaling.schedules:
        message = f"`min` and `max` are both {scaling.max}: it never scales"
        yield Problem(
            ("scaling", "max"), message, f"leave `scaling` out and write `count: {max(scaling.max, 1)}`"
        )


@rule("FL279", source=SCHEDULES)
def inverted_schedule_range(endpoint: EndpointContext) -> Iterator[Problem]:
    """A schedule's `min` does not exceed its `max`.

    A value that a schedule does not set is taken from `scaling`, although another schedule may have changed
    it.
    """
    scaling = endpoint.spec.scaling
    if scaling is None:
        return
    for index, schedule in enumerate(scaling.schedules):
        minimum = scaling.min if schedule.min is None else schedule.min
        maximum = scaling.max if schedule.max is None else schedule.max
        if minimum > maximum:
            certain = schedule.min is not None and schedule.max is not None
            message = f"`min` is {minimum} and `max` is {maximum} in the schedule {schedule.name!r}"
            hint = "write both `min` and `max`" if not certain else "write a `max` that is not below `min`"
            yield Problem(("scaling", "schedules", index), message, hint, certain)


@rule("FL224", Severity.WARNING, source="https://github.com/hashicorp/terraform-provider-aws/issues/13995")
def cron_with_two_days(endpoint: EndpointContext) -> Iterator[Problem]:
    """A cron expression has `?` for one of its two day fields.

    AWS's guide shows an expression with `*` for both, but Application Auto Scaling has refused such an
    expression.
    """
    scaling = endpoint.spec.scaling
    for index, schedule in enumerate(scaling.schedules if scaling else ()):
        if schedule.at.startswith("cron(") and "?" not in schedule.at:
            message = f"the schedule {schedule.name!r} names a day of the month and a day of the week"
            yield Problem(
                ("scaling", "schedules", index, "at"), message, "write `?` for one: `cron(0 8 ? * MON *)`"
            )


@rule("FL870", Severity.WARNING, source=SCHEDULES)
def unreachable_schedule(endpoint: EndpointContext) -> Iterator[Problem]:
    """A schedule fires at each time that its cron expression names.

    It never does on 30 February, and a step of 90 minutes leads beyond the hour: only minute 0 is left.
    """
    scaling = endpoint.spec.scaling
    for index, schedule in enumerate(scaling.schedules if scaling else ()):
        if reason := unreachable_time(schedule.at):
            message = f"the schedule {schedule.name!r} does not fire as it is written: {reason}"
            hint = "write days that the month has, and steps within the field; `rate(90 minutes)` repeats"
            yield Problem(("scaling", "schedules", index, "at"), message, hint)


@rule("FL294", Severity.WARNING, source=MULTI_MODEL)
def concurrency_target_in_multi_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """Only endpoints with one model scale on concurrent requests.

    Metrics of multi-model endpoints arrive once a minute, not every ten seconds, and the target is for one
    model.
    """
    scaling = endpoint.spec.scaling
    if (
        scaling is not None
        and scaling.concurrent_requests is not None
        and endpoint.spec.mode is Mode.MULTI_MODEL
    ):
        message = (
            "`concurrent_requests` needs a metric of one model every ten seconds, which multi-model"
            " endpoints do not have"
        )
        yield Problem(("scaling", "concurrent_requests"), message, "scale on `invocations_per_instance`")


@rule("FL296", source=ASYNC)
def real_time_target_of_async_endpoint(endpoint: EndpointContext) -> Iterator[Problem]:
    """An asynchronous endpoint does not scale on real-time calls, which it never gets.

    Its requests wait in a queue, and only the length of that queue measures them.
    """
    scaling = endpoint.spec.scaling
    names = {raw.parts[0] for raw in raw_properties(endpoint.spec, "EndpointConfig")}
    if scaling is None or "AsyncInferenceConfig" not in names:
        return
    for measure in scaling.targets.keys() & {"invocations_per_instance", "concurrent_requests"}:
        message = (
            f"`{measure}` counts real-time calls, and AsyncInferenceConfig makes the endpoint asynchronous"
        )
        yield Problem(("scaling", measure), message, "scale on `gpu_utilization`")


@rule("FL287", Severity.WARNING, source=METRICS)
def fraction_as_percent(endpoint: EndpointContext) -> Iterator[Problem]:
    """Utilisation is written in percent: 60, not 0.6."""
    scaling = endpoint.spec.scaling
    for measure, target in (scaling.targets if scaling else {}).items():
        if endpoint_metric(measure).unit == "Percent" and target < 1:
            message = f"`{measure}` is {target:g} percent: nearly any call would start instances"
            yield Problem(
                ("scaling", measure), message, f"write {target * 100:g} if you mean {target * 100:g} percent"
            )
