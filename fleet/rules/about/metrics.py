"""Rules about metrics."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.endpoint.context.context import EndpointContext
from fleet.findings import Severity
from fleet.rules.rule import Problem, rule

METRICS = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/metrics.md"


@rule("FL320", Severity.WARNING, source=METRICS)
def dimensions_without_metrics(endpoint: EndpointContext) -> Iterator[Problem]:
    """Dimensions are given only for metrics that the container publishes.

    The dashboard finds Triton's metrics by `metrics.triton_dimensions`; with `triton: false` there are none.
    """
    metrics = endpoint.spec.metrics
    if metrics.triton_dimensions and not metrics.triton:
        message = "`triton_dimensions` means nothing with `triton: false`: none are published"
        yield Problem(("metrics", "triton_dimensions"), message, "leave it out")
