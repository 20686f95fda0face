"""Instances and weights of an endpoint, changed by hand."""

from __future__ import annotations

import threading
from typing import Any


def set_variant(sagemaker: Any, name: str, **wanted: Any) -> None:
    """Set DesiredInstanceCount or DesiredWeight of AllTraffic, and return when the endpoint is InService."""
    variant = {"VariantName": "AllTraffic", **wanted}
    sagemaker.update_endpoint_weights_and_capacities(EndpointName=name, DesiredWeightsAndCapacities=[variant])
    await_service(sagemaker, name)


def await_service(sagemaker: Any, name: str) -> None:
    """Return when the endpoint is Updating no more."""
    pause = threading.Event()
    while sagemaker.describe_endpoint(EndpointName=name)["EndpointStatus"] == "Updating":
        pause.wait(0.01)
