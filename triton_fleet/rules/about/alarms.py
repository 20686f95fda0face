"""Rules about alarms, metrics and data capture."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from triton_fleet.context.alarms import SIGNS, AlarmRecord, Threshold, missing_metric, thresholds
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import KeyPath

METRICS = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
RECORDS = "docs/decisions/0015-alarms-are-records.md"
INVOKE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html"


@rule("FL311", source=METRICS)
def unmeasured_alarm(endpoint: EndpointContext) -> Iterator[Problem]:
    """Every alarm watches a metric that the endpoint has.

    Without its metric an alarm never fires. In an environment's file, which applies to all its endpoints,
    this is only a warning: endpoints without the metric get no alarm.
    """
    for record, (first, *_) in _given_thresholds(endpoint):
        if reason := missing_metric(record, endpoint):
            own = endpoint.source.mark(_path(first)).file == endpoint.source.file
            hint = f"leave it out; where an environment gives it, write `{record.key}: null`"
            yield Problem(_path(first), f"`{record.key}` has no metric here: {reason}", hint, certain=own)


@rule("FL312", Severity.WARNING, source=RECORDS)
def late_warning_threshold(endpoint: EndpointContext) -> Iterator[Problem]:
    """An alarm reaches its warning threshold before its critical one.

    A warning at the critical threshold, or beyond it, comes too late.
    """
    for record, group in _given_thresholds(endpoint):
        values = {threshold.severity: threshold.value for threshold in group}
        if len(values) < 2:
            continue
        warning, critical = values["warning"], values["critical"]
        if critical >= warning if record.comparison == "below" else critical <= warning:
            sign = SIGNS[record.unit]
            message = f"`{record.key}` warns only at {warning:g}{sign}, but is critical at {critical:g}{sign}"
            side = "above" if record.comparison == "below" else "below"
            yield Problem(("alarms", record.key, "warning"), message, f"write a `warning` {side} `critical`")


@rule("FL288", Severity.WARNING, source=INVOKE)
def unreachable_alarm_threshold(endpoint: EndpointContext) -> Iterator[Problem]:
    """An alarm's threshold can be exceeded.

    SageMaker ends a call after 60 seconds, and one whose answer is streamed after 8 minutes. No share of
    calls, memory or time exceeds 100%.
    """
    for _, group in _given_thresholds(endpoint):
        for threshold in group:
            maximum = threshold.record.unreachable_threshold(endpoint.spec)
            if maximum is not None and threshold.value >= maximum:
                sign = SIGNS[threshold.record.unit]
                value = f"`{threshold.record.key}` is {threshold.value:.15g}{sign}"
                message = f"{value}: nothing exceeds {maximum:g}{sign}"
                yield Problem(
                    _path(threshold), f"{message}, so the alarm never fires", "write a lower threshold"
                )


@rule("FL314", Severity.WARNING, source=RECORDS)
def permanent_alarm(endpoint: EndpointContext) -> Iterator[Problem]:
    """An alarm does not fire while scaling works as configured.

    An alarm at the utilisation that scaling targets, or `at_capacity` where `max` equals `min`, always fires.
    """
    scaling = endpoint.spec.scaling
    if scaling is None:
        return
    for record, group in _given_thresholds(endpoint):
        target = scaling.targets.get(record.measure)
        for threshold in group:
            if record.unit == "part" and target is not None and threshold.value <= target:
                message = (
                    f"`{record.key}` is {threshold.value:g}%, and the target of `scaling` is {target:g}%"
                )
                yield Problem(_path(threshold), message, f"write more than {target:g}%")
        if record.lasts and scaling.min == scaling.max and not scaling.schedules:
            message = (
                f"`{record.key}` fires while {scaling.max} instances run, and `scaling` always runs"
                f" {scaling.max}"
            )
            yield Problem(_path(group[0]), message, "leave it out, or raise `scaling.max`")


def _given_thresholds(endpoint: EndpointContext) -> Iterator[tuple[AlarmRecord, list[Threshold]]]:
    """The thresholds that the spec sets itself, by key."""
    own = thresholds(endpoint.spec, without_defaults=True)
    for _, group in groupby(own, key=lambda threshold: threshold.record.key):
        members = list(group)
        yield members[0].record, members


def _path(threshold: Threshold) -> KeyPath:
    return ("alarms", threshold.record.key, threshold.severity)


TRITON_METRICS = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/metrics.md"


@rule("FL320", Severity.WARNING, source=TRITON_METRICS)
def dimensions_without_metrics(endpoint: EndpointContext) -> Iterator[Problem]:
    """`triton_dimensions` is set only if the container publishes metrics with those dimensions.

    The dashboard finds Triton's metrics by `metrics.triton_dimensions`; with `triton: false` there are none,
    and a shared container publishes them by Triton's labels.
    """
    metrics, message = endpoint.spec.metrics, ""
    if metrics.triton_dimensions and not metrics.triton:
        message = "`triton_dimensions` has no effect with `triton: false`: no metrics are published"
    elif metrics.triton_dimensions and endpoint.spec.mode is Mode.SHARED_CONTAINER:
        message = "`triton_dimensions` has no effect on a shared container, which publishes Triton's labels"
    if message:
        yield Problem(("metrics", "triton_dimensions"), message, "leave it out")


@rule(
    "FL343",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-deploy-feature-matrix.html",
)
def capture_in_multi_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """Only endpoints that host a single model have data capture.

    AWS's feature matrix lists data capture and Model Monitor for single-model endpoints, not for multi-model
    ones, although the API accepts both.
    """
    spec = endpoint.spec
    if spec.capture is not None and spec.mode is Mode.MULTI_MODEL:
        message = "AWS lists data capture for endpoints with a single model, not for mode `multi-model`"
        hint = 'leave it out, or try it once and write `allow: {capture-in-multi-model: "tried on …"}`'
        yield Problem(("capture",), message, hint)
