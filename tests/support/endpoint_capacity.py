"""Instances and weights of an endpoint, changed by hand."""

from __future__ import annotations

import threading
from typing import Any

MAX_LOOKS = 6000
"""How often an endpoint is looked at, every 0.01 seconds."""


def set_variant(sagemaker: Any, name: str, **expected_value: Any) -> None:
    """Set DesiredInstanceCount or DesiredWeight of AllTraffic, and return when the endpoint is InService."""
    variant = {"VariantName": "AllTraffic", **expected_value}
    sagemaker.update_endpoint_weights_and_capacities(EndpointName=name, DesiredWeightsAndCapacities=[variant])
    await_service(sagemaker, name)


def await_service(sagemaker: Any, name: str) -> None:
    """Return when the endpoint is Updating no more.

    Raises:
        TimeoutError: it still is after a minute.
    """
    pause = threading.Event()
    for _ in range(MAX_LOOKS):
        if sagemaker.describe_endpoint(EndpointName=name)["EndpointStatus"] != "Updating":
            return
        pause.wait(0.01)
    raise TimeoutError(f"endpoint {name} is still Updating")
