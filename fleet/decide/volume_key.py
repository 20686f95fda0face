"""Whether an endpoint's instances keep their models on a volume that a key of one's own encrypts."""

from __future__ import annotations

from fleet.catalog.instances import Instance
from fleet.spec.environment import Environment


def volume_key(environment: Environment, machine: Instance) -> str | None:
    """EndpointConfig's KmsKeyId: the environment's key, where instances have no storage of their own.

    Local storage is encrypted by its hardware, not by the key; SageMaker's guide once said that the request
    fails. Source: CreateEndpointConfig, KmsKeyId.
    """
    return None if machine.nvme_gb else environment.kms_key
