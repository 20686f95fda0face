"""Where an endpoint's containers and the metrics in them are logged."""

from __future__ import annotations

from triton_fleet.context.triton_metrics import container_log_group, triton_metrics
from triton_fleet.spec.endpoint import EndpointSpec


def log_groups(spec: EndpointSpec) -> tuple[str, ...]:
    """The group of the containers, which SageMaker names, and that of Triton's metrics if it is another."""
    metrics = triton_metrics(spec)
    own = container_log_group(spec.endpoint)
    return tuple(dict.fromkeys((own, metrics.log_group if metrics else own)))
