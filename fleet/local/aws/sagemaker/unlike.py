"""What SageMaker would do with an endpoint, and nothing does on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from moto.sagemaker.models import FakeEndpointConfig, Model


def unlike(model: Model, config: FakeEndpointConfig) -> Iterator[str]:
    """Each as a sentence of `fleet local status`: capture, network and keys."""
    if config.data_capture_config:
        yield f"data capture to {config.data_capture_config.get('DestinationS3Uri')}: no call is captured"
    if model.vpc_config:
        subnets = ", ".join(model.vpc_config.get("Subnets", []))
        yield f"subnets {subnets}: the container is in this machine's network"
    if model.enable_network_isolation:
        yield "network isolation: the container reaches whatever this machine reaches"
    if config.kms_key_id:
        yield f"key {config.kms_key_id}: nothing is encrypted"
