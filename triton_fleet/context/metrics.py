"""An endpoint's metrics and logs: where they are published, over which time they are read, which it has."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.metrics import triton_labels, utilization_measures
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.monitoring import Metrics

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


def log_groups(spec: EndpointSpec) -> tuple[str, ...]:
    """The group of the containers, which SageMaker names, and that of Triton's metrics if it is another."""
    metrics = triton_metrics(spec)
    own = container_log_group(spec.endpoint)
    return tuple(dict.fromkeys((own, metrics.log_group if metrics else own)))


PERIOD = 60
"""Seconds; SageMaker and the container publish metrics once a minute unless a spec sets another interval."""


def period(measure: str, metrics: Metrics) -> int:
    """Seconds in which each instance publishes a value of the measure, a minute at least."""
    return max(PERIOD, metrics.interval) if measure in utilization_measures() else PERIOD


def values(measure: str, metrics: Metrics) -> int:
    """How many values of the measure each instance publishes in such a period."""
    return period(measure, metrics) // metrics.interval if measure in utilization_measures() else 1


def kinds(mode: Mode, machine: Instance) -> frozenset[str]:
    """The catalog's words for it: "all", with "gpu" and "multi-model" where an endpoint is that."""
    conditions = {"all": True, "gpu": machine.gpus > 0, "multi-model": mode is Mode.MULTI_MODEL}
    return frozenset(kind for kind, fits in conditions.items() if fits)
