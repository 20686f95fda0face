"""Rules about scaling."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.instances import Kind
from fleet.catalog.limits import limit
from fleet.decide.decided import Decided
from fleet.findings import Severity
from fleet.rules.rule import Problem, rule

SCALING = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html"


@rule("FL270", source=SCALING, needed=True)
def at_least_one_instance(endpoint: Decided) -> Iterator[Problem]:
    """A scaled endpoint keeps one instance at least.

    Nothing is left at zero that could measure a call and scale out again; only SageMaker's inference
    components start from zero.
    """
    scaling = endpoint.spec.scaling
    if scaling is not None and scaling.min == 0:
        message = "`min` is 0: an endpoint without instances has no metric that would bring one back"
        yield Problem(("scaling", "min"), message, "write `min: 1`; to stop paying, destroy the endpoint")


@rule("FL271", Severity.WARNING, source=SCALING)
def first_count_in_range(endpoint: Decided) -> Iterator[Problem]:
    """The first number of instances is one that scaling would keep.

    Outside of its range scaling changes it at once, after the instances have been paid for.
    """
    scaling, count = endpoint.spec.scaling, endpoint.spec.instance.count
    if scaling is not None and not scaling.min <= count <= scaling.max:
        message = f"`count` is {count}, outside of what `scaling` keeps: {scaling.min} to {scaling.max}"
        yield Problem(
            ("instance", "count"), message, f"write a count from {max(scaling.min, 1)} to {scaling.max}"
        )


@rule(
    "FL272", source="https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html", needed=True
)
def gpu_target_with_a_gpu(endpoint: Decided) -> Iterator[Problem]:
    """Scaling on GPU utilisation needs a GPU.

    Other instances do not have the metric: the policy would do nothing, without a word.
    """
    scaling, machine = endpoint.spec.scaling, endpoint.machine
    if scaling is None or machine is None or machine.kind is Kind.GPU:
        return
    if scaling.gpu_utilization is not None:
        message = f"{machine.type} has no GPU, and so no metric for `gpu_utilization`"
        yield Problem(("scaling", "gpu_utilization"), message, "scale on `invocations_per_instance`")


@rule("FL273", source=SCALING)
def no_scaling_of_burstable_instances(endpoint: Decided) -> Iterator[Problem]:
    """Burstable instances are not scaled.

    SageMaker does not scale T2; of T3 nothing is published.
    """
    machine = endpoint.machine
    if endpoint.spec.scaling is not None and machine is not None and machine.burstable:
        message = f"{machine.type} is burstable, which SageMaker does not scale"
        yield Problem(
            ("scaling",), message, "leave `scaling` out, or take another type", machine.family == "t2"
        )


@rule("FL274", Severity.WARNING, source=SCALING)
def range_to_scale_in(endpoint: Decided) -> Iterator[Problem]:
    """Scaling has room between its ends."""
    scaling = endpoint.spec.scaling
    if scaling is not None and scaling.min == scaling.max:
        message = f"`min` and `max` are both {scaling.max}: nothing is ever scaled"
        yield Problem(
            ("scaling", "max"), message, f"leave `scaling` out and write `count: {max(scaling.max, 1)}`"
        )


@rule(
    "FL287",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html",
)
def percent_that_is_no_share(endpoint: Decided) -> Iterator[Problem]:
    """Utilisation is written in percent: 60, not 0.6."""
    scaling = endpoint.spec.scaling
    if scaling is not None and scaling.gpu_utilization is not None and scaling.gpu_utilization < 1:
        wanted = scaling.gpu_utilization
        message = f"`gpu_utilization` is {wanted:g} percent: nearly any call would start instances"
        yield Problem(("scaling", "gpu_utilization"), message, f"write {wanted * 100:g}, if that is meant")


@rule(
    "FL288",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html",
)
def latency_that_can_be_reached(endpoint: Decided) -> Iterator[Problem]:
    """An alarm's latency is below the 60 seconds after which SageMaker ends a call."""
    most = limit("invoke_seconds") * 1000
    for key in ("latency_p50", "latency_p90", "latency_p99"):
        wanted = getattr(endpoint.spec.alarms, key, None)
        if wanted is not None and wanted >= most:
            message = f"`{key}` is {wanted}ms: SageMaker ends a call after {most}ms, so that it never rings"
            yield Problem(("alarms", key), message, "write less")
