"""Rules about what `cloudformation` lays over the template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from fleet.catalog.instances import volume_refused
from fleet.catalog.properties import Property, is_index, properties_date, property_at
from fleet.decide.decided import Decided
from fleet.decide.raw import DEEPEST, RawProperty, is_intrinsic, raw_properties
from fleet.findings import Severity
from fleet.rules.rule import Problem, rule
from fleet.spec.problems import did_you_mean
from fleet.spec.source import KeyPath

SCHEMAS = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-sagemaker-endpointconfig.html"
OVERRIDES = "https://docs.aws.amazon.com/cdk/v2/guide/cfn-layer.html"
RESOURCES = ["Model", "EndpointConfig", "Endpoint"]
"""What `cloudformation` may reach into."""
VARIANT = "ProductionVariants.*"
IMAGE = "PrimaryContainer.Image"
NAMES = {"ModelName": "Model", "EndpointConfigName": "EndpointConfig"}
OWN_KEYS = {
    ("EndpointConfig", f"{VARIANT}.InstanceType"): "instance.type",
    ("EndpointConfig", f"{VARIANT}.InitialInstanceCount"): "instance.count",
    ("EndpointConfig", f"{VARIANT}.InferenceAmiVersion"): "instance.ami",
    ("EndpointConfig", f"{VARIANT}.ModelDataDownloadTimeoutInSeconds"): "timeouts.model_download",
    ("EndpointConfig", f"{VARIANT}.ContainerStartupHealthCheckTimeoutInSeconds"): "timeouts.startup",
    ("Model", "PrimaryContainer.ModelDataUrl"): "models",
    ("Model", "PrimaryContainer.ModelDataSource"): "models",
    ("Model", "PrimaryContainer.Mode"): "mode",
    ("Model", "PrimaryContainer.Environment"): "environment",
    ("Endpoint", "EndpointName"): "endpoint",
    ("Endpoint", "DeploymentConfig"): "rollout",
}
"""Properties, with all below them, that follow from keys of the spec."""
HARMLESS = ("instance.ami", "timeouts.model_download", "timeouts.startup")
"""Of these: what the raw property says is judged as well, or no rule goes by it."""
SETTLED = {
    ("EndpointConfig", f"{VARIANT}.VariantName"): "scaling and the dashboard go by the name that it has",
    ("EndpointConfig", f"{VARIANT}.ModelName"): "it is the model that the spec describes",
    (
        "EndpointConfig",
        f"{VARIANT}.ManagedInstanceScaling",
    ): "it is for inference components alone",
    ("EndpointConfig", f"{VARIANT}.ServerlessConfig"): "a serverless endpoint has no GPU and no instances",
    ("Model", "Containers"): "an endpoint has one container, Triton's",
    ("Endpoint", "EndpointConfigName"): "it is the configuration that the spec describes",
    (
        "Endpoint",
        "RetainAllVariantProperties",
    ): "a scaled endpoint keeps its instances, another has its `count`",
    ("Endpoint", "ExcludeRetainedVariantProperties"): "weights and data capture always follow the spec",
    ("Endpoint", "RetainDeploymentConfig"): "each update goes by the spec's own `rollout`",
}
"""Properties, with all below them, that nothing in a spec changes, and why."""
WHOLES = {
    "EndpointConfig": ("ProductionVariants", "ProductionVariants.0"),
    "Model": ("PrimaryContainer",),
    "Endpoint": (),
}
"""Lists and mappings that hold what follows from the spec."""
LISTS = ("ProductionVariants", "Tags")
"""Lists that the template has already, so that an item of theirs can be laid over."""
SHOWN = 60
"""So many characters of a value are shown."""


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
    for raw in raw_properties(endpoint.spec, "EndpointConfig"):
        if _general(raw) == f"{VARIANT}.VolumeSizeInGB":
            message = (
                f"{machine.type} has {machine.nvme_gb} GB of local"
                " storage: SageMaker takes no volume size for it"
            )
            yield Problem(raw.path, message, "leave it out", certain=volume_refused(machine))


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
    for raw in raw_properties(endpoint.spec, "EndpointConfig"):
        if raw.name == "KmsKeyId":
            message = (
                f"{machine.type} keeps models on local storage, which"
                " the key does not encrypt and may be refused for"
            )
            yield Problem(raw.path, message, "leave it out; local storage is encrypted by its own hardware")


@rule("FL263", source="docs/check.md")
def no_raw_property_that_has_a_key(endpoint: Decided) -> Iterator[Problem]:
    """What follows from the spec is not set as a raw property.

    Rules, scaling, the dashboard and `fleet show` go by the spec, and would judge another endpoint than the
    one deployed; of a host image and of time-outs it is only said. An endpoint has one variant, and one model
    with one container.
    """
    for resource in RESOURCES:
        keys = {name: key for (of, name), key in OWN_KEYS.items() if of == resource}
        for raw, key in _below(endpoint, resource, keys):
            message = f"the raw property {raw.name} says what `{key}` says"
            yield Problem(raw.path, message, f"write `{key}` instead", certain=key not in HARMLESS)
        reasons = {name: reason for (of, name), reason in SETTLED.items() if of == resource}
        for raw, reason in _below(endpoint, resource, reasons):
            yield Problem(raw.path, f"{raw.name} is not to be changed: {reason}", "leave it out")


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
        for raw in raw_properties(endpoint.spec, resource):
            if raw.name == name:
                message = f"a fixed {name} cannot be replaced: the next change of the endpoint fails"
                yield Problem(raw.path, message, "leave it out")


@rule("FL268", source=SCHEMAS)
def raw_property_that_exists(endpoint: Decided) -> Iterator[Problem]:
    """CloudFormation has the raw property, and lets it be set.

    It refuses a name that it does not know, and CDK drops some paths without a word: a key with dots below
    another key, an item of a list that is not in the template.
    """
    for resource in RESOURCES:
        told = set[KeyPath]()
        for raw in raw_properties(endpoint.spec, resource):
            message, hint = _unknown(resource, raw)
            if message and raw.path[:-1] not in told:
                yield Problem(raw.path, message, hint)
            if message:
                told.add(raw.path)


@rule("FL269", source=SCHEMAS)
def raw_value_in_its_limits(endpoint: Decided) -> Iterator[Problem]:
    """A raw value is of the type and within the limits that CloudFormation sets, and nothing is missing.

    What an intrinsic function such as `Ref` computes is not judged.
    """
    for resource in RESOURCES:
        raws = list(raw_properties(endpoint.spec, resource))
        for raw in raws:
            known = _known(resource, raw.parts)
            if known is None or is_intrinsic(raw.value) or raw.takes_out or known.takes(raw.value):
                continue
            if raw.value is None:
                hint = f"write `{raw.name}` as one key to take it out"
                yield Problem(raw.path, f"{raw.name} has no value, and CDK passes over it", hint)
            else:
                message = f"{raw.name} is {_shown(raw.value)}, which CloudFormation does not take"
                yield Problem(raw.path, message, f"write {known.taken}")
        yield from _incomplete(resource, raws)


@rule("FL298", source=OVERRIDES)
def raw_list_that_replaces(endpoint: Decided) -> Iterator[Problem]:
    """No raw value takes the place of the whole variant or the whole container.

    CDK lays a mapping over what is there, and puts a list, a single value or an intrinsic function in its
    place: model, instance type and count of the spec are lost.
    """
    for resource, names in WHOLES.items():
        for raw in raw_properties(endpoint.spec, resource):
            replaces = not isinstance(raw.value, Mapping) or is_intrinsic(raw.value)
            if raw.name in names and replaces and (raw.value is not None or raw.takes_out):
                below = f"{raw.name}.0" if raw.name == "ProductionVariants" else raw.name
                what = "a list" if isinstance(raw.value, list | tuple) else _shown(raw.value)
                message = f"{what} for {raw.name} takes the place of all that follows from the spec"
                yield Problem(raw.path, message, f"write `{below}.KEY` for each key to change")


@rule(
    "FL299",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html",
)
def image_that_is_known(endpoint: Decided) -> Iterator[Problem]:
    """The container's image is SageMaker's own.

    Of an image of one's own nobody knows the CUDA version, the backends and the TensorRT in it: the rules go
    by `triton`, and do not check that the host's driver runs the image, or that its models load.
    """
    for raw, _ in _below(endpoint, "Model", {IMAGE: IMAGE}):
        message = "an image of one's own: its CUDA, driver and backends are not checked"
        yield Problem(raw.path, message, "build it on the image of the release that `triton` names")


def _general(raw: RawProperty) -> str:
    """Its name with `*` for each index."""
    return ".".join("*" if is_index(part) else part for part in raw.parts)


def _below(endpoint: Decided, resource: str, names: Mapping[str, str]) -> Iterator[tuple[RawProperty, str]]:
    """The raw properties of the given names or below one, with what the name stands for; the outer ones."""
    told = set[KeyPath]()
    for raw in raw_properties(endpoint.spec, resource):
        general = f"{_general(raw)}."
        for name, meaning in names.items():
            if general.startswith(f"{name}."):
                if raw.path[:-1] not in told:
                    yield raw, meaning
                told.add(raw.path)


def _known(resource: str, parts: tuple[str, ...]) -> Property | None:
    reached = property_at(resource, parts)
    return None if reached.rest else reached.property


def _unknown(resource: str, raw: RawProperty) -> tuple[str, str]:
    """Why CloudFormation or CDK does not set the property, and what to write; empty where they do."""
    reached = property_at(resource, raw.parts)
    if not reached.rest:
        if reached.property.read_only:
            return f"{raw.name} is CloudFormation's to set", "leave it out"
        return _item_of_no_list(resource, raw)
    outer, name = ".".join(raw.parts[: -len(reached.rest)]), reached.rest[0]
    of = outer or f"AWS::SageMaker::{resource}"
    if "." in name and property_at(resource, tuple(raw.name.split("."))).rest == ():
        return f"`{name}` below another key is one name, not a path", f"write `{raw.name}` as one key"
    if "array" in reached.property.types:
        return f"{of} is a list: `{name}` is no place in it", f"write `{outer}.0.{name}`"
    if not reached.property.names:
        return f"{of} is {reached.property.taken}: there is no `{name}` in it", f"write a value for `{outer}`"
    message = f"{of} has no property `{name}` as of {properties_date()}"
    return message, did_you_mean(name, reached.property.names)


def _item_of_no_list(resource: str, raw: RawProperty) -> tuple[str, str]:
    for depth in range(1, min(len(raw.parts), DEEPEST)):
        outer = raw.parts[:depth]
        known = _known(resource, outer)
        is_list = known is not None and "array" in known.types
        if is_list and not raw.is_item(depth) and outer[0] not in LISTS:
            name = ".".join(outer)
            return f"the template has no list {name} to lay an item over", f"write `{name}` as a list"
    return "", ""


def _incomplete(resource: str, raws: list[RawProperty]) -> Iterator[Problem]:
    """Mappings that the spec begins, and that lack what CloudFormation asks for."""
    names, places = defaultdict[tuple[str, ...], set[str]](set), dict[tuple[str, ...], KeyPath]()
    for raw in raws:
        for depth in range(1, min(len(raw.parts), DEEPEST)):
            names[raw.parts[:depth]].add(raw.parts[depth])
            places.setdefault(raw.parts[:depth], raw.path)
    for parts, given in names.items():
        known, name = _known(resource, parts), ".".join(parts)
        if known is None or name in WHOLES[resource] or parts[0] == "Tags":
            continue
        for missing in sorted(set(known.required) - given):
            hint = f"write `{name}.{missing}`"
            yield Problem(places[parts], f"{name} lacks `{missing}`, which CloudFormation requires", hint)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
