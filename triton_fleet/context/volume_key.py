"""Which of an endpoint's instances keep their models on a volume, and the key that encrypts it."""

from __future__ import annotations

from triton_fleet.catalog.instances import Instance
from triton_fleet.context.context import EndpointContext


def machines_with_volume(endpoint: EndpointContext) -> tuple[Instance, ...]:
    """The instance types without storage of their own, of pools and shadow variants as well.

    Those that the catalog does not have are left out.
    """
    found = (endpoint.on(machine).machine for machine in endpoint.machines)
    return tuple(dict.fromkeys(each for each in found if each is not None and not each.nvme_gb))


def volume_key(endpoint: EndpointContext) -> str | None:
    """EndpointConfig's KmsKeyId: the environment's key, where one of the instance types has a volume.

    Local storage is encrypted by its hardware; SageMaker takes a key for it and does not use it. Source:
    botocore 1.44.5, CreateEndpointConfig, KmsKeyId.
    """
    return endpoint.environment.kms_key if machines_with_volume(endpoint) else None
