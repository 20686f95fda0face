"""Where Triton's own metrics are published, and where an endpoint's containers log."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.metrics import triton_labels
from triton_fleet.spec.endpoint import EndpointSpec, Mode

REASON, REASON_SINCE = "reason", "24.08"
"""A label of failed requests; source: triton-inference-server/core, metric_model_reporter.cc, by release."""


@dataclass(frozen=True, kw_only=True)
class TritonMetrics:
    """Where the container publishes Triton's metrics, and with which dimensions; none: that is not known."""

    namespace: str
    log_group: str
    dimensions: tuple[str, ...]


def triton_metrics(spec: EndpointSpec) -> TritonMetrics | None:
    """The endpoint's own namespace and log group; None without metrics.

    A shared container prints its metrics into its own log, from which CloudWatch takes them with Triton's
    labels as their dimensions.
    """
    if not spec.metrics.triton:
        return None
    name, own = spec.endpoint, spec.mode is Mode.SHARED_CONTAINER
    return TritonMetrics(
        namespace=f"TritonFleet/{name}",
        log_group=container_log_group(name) if own else f"/triton-fleet/{name}/metrics",
        dimensions=_labels(spec) if own else spec.metrics.triton_dimensions,
    )


def _labels(spec: EndpointSpec) -> tuple[str, ...]:
    return tuple(sorted(triton_labels() - ({REASON} if spec.triton < REASON_SINCE else set())))


def container_log_group(endpoint: str) -> str:
    """Where SageMaker writes what an endpoint's containers print."""
    return f"/aws/sagemaker/Endpoints/{endpoint}"
