"""Rules about the raw properties of `cloudformation` for the storage of instances."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.instances import takes_no_volume
from triton_fleet.context.context import EndpointContext, machines_with_volume
from triton_fleet.context.raw import raw_properties
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import INSTANCE_TYPE, Problem, rule


@INSTANCE_TYPE.rule(
    "FL230",
    source="https://github.com/aws/sagemaker-python-sdk/blob/master/sagemaker-core/src/sagemaker/core/utils",
)
def volume_size_beside_local_storage(endpoint: EndpointContext) -> Iterator[Problem]:
    """No volume size is set for instances with local NVMe storage.

    SageMaker refuses it: "VolumeSize parameter is not allowed for the selected Instance type".
    """
    machine = endpoint.machine
    if machine is None or not machine.nvme_gb:
        return
    raw = endpoint.raw_variants.get(endpoint.variant, {}).get(("VolumeSizeInGB",))
    if raw is not None:
        message = (
            f"{machine.type} has {machine.nvme_gb} GB of local storage: SageMaker accepts no volume size"
        )
        yield Problem(raw.path, message, "leave it out", certain=takes_no_volume(machine))


@rule(
    "FL231",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html",
)
def volume_key_beside_local_storage(endpoint: EndpointContext) -> Iterator[Problem]:
    """No KMS key is set for instances whose hardware encrypts their local storage.

    SageMaker accepts the key, but does not encrypt local storage with it.
    """
    machine = endpoint.machine
    if machine is None or machines_with_volume(endpoint):
        return
    for raw in raw_properties(endpoint.spec, "EndpointConfig"):
        if raw.name == "KmsKeyId":
            message = f"{machine.type} keeps models on local storage, which the key does not encrypt"
            yield Problem(raw.path, message, "leave it out; local storage is encrypted by its own hardware")
