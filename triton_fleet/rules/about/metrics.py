"""Rules about metrics."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.endpoint import Mode

METRICS = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/metrics.md"


@rule("FL320", Severity.WARNING, source=METRICS)
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
