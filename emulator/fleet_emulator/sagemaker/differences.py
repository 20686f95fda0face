"""What SageMaker would do with an endpoint, and nothing does on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from moto.sagemaker.models import Model

from fleet_emulator.sagemaker.variants import EmbeddedEndpointConfig, pools_of


def unlike(model: Model, config: EmbeddedEndpointConfig) -> Iterator[str]:
    """Each as a sentence of `fleet local status`: capture, network, keys, pools and shadow variants."""
    if config.data_capture_config:
        yield f"data capture to {config.data_capture_config.get('DestinationS3Uri')}: no call is captured"
    if model.vpc_config:
        subnets = ", ".join(model.vpc_config.get("Subnets", []))
        yield f"subnets {subnets}: the container is in this machine's network"
    if model.enable_network_isolation:
        yield "network isolation: the container reaches whatever this machine reaches"
    if pools := ", ".join(pool["InstanceType"] for pool in pools_of(config.production_variants[0])):
        yield f"instance pools {pools}: what the first serves is on this machine"
    for shadow in config.shadow_production_variants or ():
        yield f"shadow variant {shadow['VariantName']}: no call is copied to it"
    if config.kms_key_id:
        yield f"key {config.kms_key_id}: nothing is encrypted"
