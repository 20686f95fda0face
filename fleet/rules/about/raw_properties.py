"""Rules about what `cloudformation` lays over the template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.catalog.limits import limit
from fleet.decide.decided import Decided
from fleet.findings import Severity
from fleet.rules.rule import Problem, rule
from fleet.spec.problems import did_you_mean
from fleet.spec.source import KeyPath

CONFIG_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html"
RESOURCES = ["Model", "EndpointConfig", "Endpoint"]
"""What `cloudformation` may reach into."""
LIMITED = {
    "VolumeSizeInGB": "volume_gb",
    "ModelDataDownloadTimeoutInSeconds": "download_seconds",
    "ContainerStartupHealthCheckTimeoutInSeconds": "startup_seconds",
}
NAMES = {"ModelName": "Model", "EndpointConfigName": "EndpointConfig"}


@rule("FL208", source="the resources of an endpoint's stack", needed=True)
def resource_that_the_endpoint_has(endpoint: Decided) -> Iterator[Problem]:
    """`cloudformation` names resources that an endpoint's stack has."""
    for name in endpoint.spec.cloudformation:
        if name not in RESOURCES:
            message = f"`cloudformation` names {name!r}, which no endpoint has"
            yield Problem(("cloudformation", name), message, did_you_mean(name, RESOURCES))


@rule(
    "FL230",
    source="https://github.com/aws/sagemaker-python-sdk/blob/master/sagemaker-core/src/sagemaker/core/utils",
)
def no_volume_beside_local_storage(endpoint: Decided) -> Iterator[Problem]:
    """No volume size is given for instances that have NVMe storage of their own.

    SageMaker refuses it: "VolumeSize parameter is not allowed for the selected Instance type".
    """
    machine = endpoint.machine
    if machine is None or not machine.nvme_gb:
        return
    for path, name, _ in _raw(endpoint, "EndpointConfig"):
        if name == "VolumeSizeInGB":
            message = (
                f"{machine.type} has {machine.nvme_gb} GB of local"
                " storage: SageMaker takes no volume size for it"
            )
            yield Problem(path, message, "leave it out")


@rule(
    "FL231",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html",
)
def no_volume_key_for_local_storage(endpoint: Decided) -> Iterator[Problem]:
    """No KMS key is given for the storage of instances that encrypt it by hardware.

    SageMaker's guide once said that the request fails, and now that the key does not encrypt local storage.
    """
    machine = endpoint.machine
    if machine is None or not machine.nvme_gb:
        return
    for path, name, _ in _raw(endpoint, "EndpointConfig"):
        if name == "KmsKeyId" and path[-1] == "KmsKeyId":
            message = (
                f"{machine.type} keeps models on local storage, which"
                " the key does not encrypt and may be refused for"
            )
            yield Problem(path, message, "leave it out; local storage is encrypted by its own hardware")


@rule("FL232", source=CONFIG_API)
def raw_numbers_in_range(endpoint: Decided) -> Iterator[Problem]:
    """Raw numbers are within what the API takes."""
    for path, name, value in _raw(endpoint, "EndpointConfig"):
        if name not in LIMITED:
            continue
        least, most = limit(f"{LIMITED[name]}_min"), limit(f"{LIMITED[name]}_max")
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            yield Problem(
                path, f"{name} is {value!r}; SageMaker takes {least} to {most}", "write a number in between"
            )


@rule(
    "FL264",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-sagemaker-model.html",
)
def no_fixed_names(endpoint: Decided) -> Iterator[Problem]:
    """Model and endpoint configuration keep the names that CloudFormation makes.

    Both are replaced on every change, and a second one of the same name cannot be made: the next deploy
    fails.
    """
    for name, resource in NAMES.items():
        for path, found, _ in _raw(endpoint, resource):
            if found == name and len(path) == 3:
                message = f"a fixed {name} cannot be replaced: the next change of the endpoint fails"
                yield Problem(path, message, "leave it out")


def _raw(endpoint: Decided, resource: str) -> Iterator[tuple[KeyPath, str, object]]:
    """Each raw property: its place, the last name of its path, its value."""
    yield from _leaves(endpoint.spec.cloudformation.get(resource, {}), ("cloudformation", resource))


def _leaves(values: object, path: KeyPath) -> Iterator[tuple[KeyPath, str, object]]:
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(values, list | tuple):
        for index, value in enumerate(values):
            yield from _leaves(value, (*path, index))
    else:
        yield path, str(path[-1]).rpartition(".")[2], values
