"""Whether an endpoint's instances keep their models on a volume that a key of one's own encrypts."""

from __future__ import annotations

from fleet.catalog.instances import Instance
from fleet.spec.environment import Environment


def volume_key(environment: Environment, machine: Instance) -> str | None:
    """EndpointConfig's KmsKeyId: the environment's key, where instances have no storage of their own.

    Local storage is encrypted by its hardware; SageMaker takes a key for it and does not use it. Source:
    botocore 1.44.5, CreateEndpointConfig, KmsKeyId.
    """
    return None if machine.nvme_gb else environment.kms_key
