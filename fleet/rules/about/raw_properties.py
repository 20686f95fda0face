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
VOLUME = "VolumeSizeInGB"
NAMES = {"ModelName": "Model", "EndpointConfigName": "EndpointConfig"}
OWN_KEYS = {
    ("EndpointConfig", "InstanceType"): "instance.type",
    ("EndpointConfig", "InitialInstanceCount"): "instance.count",
    ("EndpointConfig", "ModelDataDownloadTimeoutInSeconds"): "timeouts.model_download",
    ("EndpointConfig", "ContainerStartupHealthCheckTimeoutInSeconds"): "timeouts.startup",
    ("Model", "ModelDataUrl"): "models",
    ("Model", "Mode"): "mode",
    ("Endpoint", "EndpointName"): "endpoint",
}
"""Properties of our constructs that follow from keys of the spec."""


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
        if name == VOLUME:
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
def volume_size_in_range(endpoint: Decided) -> Iterator[Problem]:
    """A volume is as large as SageMaker takes: 1 to 512 GB."""
    least, most = limit("volume_gb_min"), limit("volume_gb_max")
    for path, name, value in _raw(endpoint, "EndpointConfig"):
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if name == VOLUME and not (is_whole and least <= int(str(value)) <= most):
            message = f"{name} is {value!r}; SageMaker takes {least} to {most}"
            yield Problem(path, message, "write a whole number in between")


@rule("FL263", source="docs/check.md")
def no_raw_property_that_has_a_key(endpoint: Decided) -> Iterator[Problem]:
    """What has a key of the spec is not set as a raw property.

    Rules, scaling and `fleet show` go by the key, and would judge another endpoint than the one deployed.
    """
    for resource in RESOURCES:
        for path, name, _ in _raw(endpoint, resource):
            key = OWN_KEYS.get((resource, name))
            if key is not None:
                yield Problem(
                    path, f"the raw property {name} says what `{key}` says", f"write `{key}` instead"
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
