"""Where an endpoint's containers and the metrics in them are logged."""

from __future__ import annotations

from fleet.endpoint.context.variables import triton_metrics
from fleet.spec.endpoint import EndpointSpec


def log_groups(spec: EndpointSpec) -> tuple[str, ...]:
    """The group of the containers, which SageMaker names, and that of Triton's metrics if there are any."""
    metrics = triton_metrics(spec)
    return (container_log_group(spec.endpoint), *([metrics.log_group] if metrics else []))


def container_log_group(endpoint: str) -> str:
    """Where SageMaker writes what an endpoint's containers print."""
    return f"/aws/sagemaker/Endpoints/{endpoint}"
