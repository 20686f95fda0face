"""Rules about the names and values of raw properties, by CloudFormation's schema."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from triton_fleet.catalog.api_ledger import Decision, values_of_the_api
from triton_fleet.catalog.images import partition_of, registry_host
from triton_fleet.catalog.properties import Property, WiderRange, properties_date, property_at, wider_range
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.machines import OWN_VARIANT, has_pools
from triton_fleet.context.raw import DEEPEST, RawProperty, is_intrinsic, raw_properties
from triton_fleet.context.registries import IMAGE
from triton_fleet.findings import Severity
from triton_fleet.rules.raw import (
    OWN_MODEL_NAME,
    RESOURCES,
    WHOLES,
    decided_members,
    judged_properties,
    outermost,
    value_text,
)
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

CONTAINER = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html"
RESERVATION = "CapacityReservationConfig.MlReservationArn"
REGISTRY = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.(?P<dns>[a-z.]+)/(?P<repository>[^:@]+)"
)


@rule("FL232", source=CONTAINER)
def dangling_raw_name(endpoint: EndpointContext) -> Iterator[Problem]:
    """A raw property names only what the endpoint can use, such as an image of its own region.

    SageMaker pulls images only from its own region, and a capacity reservation belongs to one region and
    account. An endpoint has one reservation, a training plan for its `instance.type`, and answers only while
    the plan is active; no file shows the type and the days of a plan. A shadow variant without a model does
    not exist. The results of intrinsic functions are not checked.
    """
    yield from _models(endpoint)
    yield from _images(endpoint)
    yield from _reservations(endpoint)


@rule(
    "FL299",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html",
)
def custom_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's image is SageMaker's own.

    The CUDA version, the backends and the TensorRT of a custom image are unknown. The rules rely on `triton`,
    and cannot check whether the host's driver runs the image, or whether its models load.
    `disallowed-registry` (FL349) checks which registry it comes from.
    """
    for raw, _ in outermost(endpoint, "Model", {IMAGE: IMAGE}):
        message = "this is a custom image: its CUDA, driver and backends are not checked"
        yield Problem(raw.path, message, "build it on the image of the release that `triton` names")


def _models(endpoint: EndpointContext) -> Iterator[Problem]:
    for variant, raws in endpoint.raw_variants.items():
        if raws.get(("ModelName",)) is None and variant != OWN_VARIANT:
            hint = f"write `{variant}.ModelName: {OWN_MODEL_NAME}`"
            yield Problem(next(iter(raws.values())).path, f"{variant} names no model", hint)


def _images(endpoint: EndpointContext) -> Iterator[Problem]:
    region = endpoint.region
    for raw in raw_properties(endpoint.spec, "Model"):
        match = REGISTRY.match(raw.value) if raw.name == IMAGE and isinstance(raw.value, str) else None
        if match is not None and (match["region"], match["dns"]) != (region, partition_of(region).dns):
            message = (
                f"the image is in {match['region']} ({match['dns']}), and the endpoint is in {region}:"
                " SageMaker pulls images only from its own region"
            )
            own_host = registry_host(match["account"], region)
            yield Problem(raw.path, message, f"copy it to {region}, and write {own_host}/…")


def _reservations(endpoint: EndpointContext) -> Iterator[Problem]:
    region, account = endpoint.region, endpoint.environment.account
    parts = [partition_of(region).name, "sagemaker", region, account]
    first = None
    for raw in judged_properties(endpoint, "EndpointConfig"):
        if not raw.general.endswith(f".{RESERVATION}"):
            continue
        if has_pools(endpoint.raw_variants.get(".".join(raw.parts[:2]), {})):
            message = "a capacity reservation is of one instance type, and the variant has instance pools"
            yield Problem(raw.path, message, "leave one of the two out", certain=False)
        if not isinstance(raw.value, str):
            continue
        first = first or raw.value
        if raw.value != first:
            message = f"the endpoint has two reservations, {first} and {raw.value}: SageMaker takes one"
            yield Problem(raw.path, message, "name the same one for both variants, or leave one out")
        if raw.value.split(":")[1:5] != parts:
            message = f"{raw.value} is not a reservation of account {account} in {region}"
            yield Problem(raw.path, message, f"name one whose ARN begins with arn:{':'.join(parts)}:")


SCHEMAS = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-sagemaker-endpointconfig.html"
LISTS = ("ProductionVariants", "Tags")
"""Lists that the template has already, so that their items can be overridden."""


@rule("FL268", source=SCHEMAS)
def unknown_raw_property(endpoint: EndpointContext) -> Iterator[Problem]:
    """CloudFormation has the raw property, and it can be set.

    CloudFormation refuses unknown names, and CDK silently drops some paths: a key with dots below another
    key, and an item of a list that is not in the template.
    """
    for resource in RESOURCES:
        paths = set[KeyPath]()
        for raw in judged_properties(endpoint, resource):
            message, hint = _unknown(resource, raw)
            if message and raw.path[:-1] not in paths:
                yield Problem(raw.path, message, hint)
            if message:
                paths.add(raw.path)


@rule("FL269", source=SCHEMAS)
def invalid_raw_value(endpoint: EndpointContext) -> Iterator[Problem]:
    """A raw value fits CloudFormation's schema, and no required property is missing.

    The result of an intrinsic function such as `Ref` is not checked. A value that only another public source
    accepts is a warning, such as 60 seconds for `VariantInstanceProvisionTimeoutInSeconds`.
    """
    for resource in RESOURCES:
        raws = list(judged_properties(endpoint, resource))
        for raw in raws:
            property = _find_property(resource, raw.parts)
            if property is None or is_intrinsic(raw.value) or raw.takes_out or property.takes(raw.value):
                continue
            if wider := _wider_range(raw):
                message = (
                    f"{raw.name} is {value_text(raw.value)}: CloudFormation's schema and the API's model"
                    f" state {property.accepted_values}, {wider.by} states {wider.minimum} to {wider.maximum}"
                )
                hint = f"if the deploy is refused, write {property.accepted_values}"
                yield Problem(raw.path, message, hint, certain=False)
            elif raw.value is None:
                hint = f"write `{raw.name}` as one key to remove it"
                yield Problem(raw.path, f"{raw.name} has no value, and CDK ignores it", hint)
            else:
                message = f"{raw.name} is {value_text(raw.value)}, which CloudFormation does not accept"
                yield Problem(raw.path, message + _in_the_api(raw), f"write {property.accepted_values}")
        yield from _incomplete(resource, raws)


def _in_the_api(raw: RawProperty) -> str:
    """The facts about a value that the API accepts; empty for any other."""
    for member, values in values_of_the_api().items():
        if raw.name.endswith(f".{member}") and str(raw.value) in values:
            return f": only the API accepts it, and {values[str(raw.value)]}"
    return ""


def _wider_range(raw: RawProperty) -> WiderRange | None:
    """The source that accepts a whole number which CloudFormation's schema does not; else None."""
    wider, number = wider_range(raw.parts[-1]), str(raw.value)
    if wider is None or not (number.isascii() and number.isdecimal()):
        return None
    return wider if wider.minimum <= int(number) <= wider.maximum else None


def _find_property(resource: str, parts: tuple[str, ...]) -> Property | None:
    path = property_at(resource, parts)
    return None if path.rest else path.property


def _unknown(resource: str, raw: RawProperty) -> tuple[str, str]:
    """Why CloudFormation or CDK does not set the property, and what to write; empty where they do."""
    path = property_at(resource, raw.parts)
    if not path.rest:
        if path.property.is_read_only:
            return f"{raw.name} is set by CloudFormation", "leave it out"
        return _item_of_no_list(resource, raw)
    outer, name = ".".join(raw.parts[: -len(path.rest)]), path.rest[0]
    of = outer or f"AWS::SageMaker::{resource}"
    if "." in name and property_at(resource, tuple(raw.name.split("."))).rest == ():
        return f"`{name}` below another key is one name, not a path", f"write `{raw.name}` as one key"
    if "array" in path.property.types:
        return f"{of} is a list: `{name}` is not an index of it", f"write `{outer}.0.{name}`"
    if not path.property.names:
        return (
            f"{of} is {path.property.accepted_values}: there is no `{name}` in it",
            f"set a value for `{outer}`",
        )
    message = f"{of} has no property `{name}` as of {properties_date()}"
    return message, did_you_mean(name, path.property.names)


def _item_of_no_list(resource: str, raw: RawProperty) -> tuple[str, str]:
    for depth in range(1, min(len(raw.parts), DEEPEST)):
        outer = raw.parts[:depth]
        property = _find_property(resource, outer)
        is_list = property is not None and "array" in property.types
        if is_list and not raw.is_item(depth) and outer[0] not in LISTS:
            name = ".".join(outer)
            return f"the template has no list {name} whose item could be changed", f"write `{name}` as a list"
    return "", ""


def _incomplete(resource: str, raws: list[RawProperty]) -> Iterator[Problem]:
    """Mappings of the spec that lack what CloudFormation requires, except those that a key sets (FL263)."""
    paths_of_keys = decided_members(resource, Decision.KEY)
    names, paths = defaultdict[tuple[str, ...], set[str]](set), dict[tuple[str, ...], KeyPath]()
    for raw in raws:
        general = raw.general.split(".")
        if any(".".join(general[:depth]) in paths_of_keys for depth in range(1, len(general))):
            continue
        for depth in range(1, min(len(raw.parts), DEEPEST)):
            names[raw.parts[:depth]].add(raw.parts[depth])
            paths.setdefault(raw.parts[:depth], raw.path)
    for parts, keys in names.items():
        property, name = _find_property(resource, parts), ".".join(parts)
        if property is None or name in WHOLES[resource] or parts[0] == "Tags":
            continue
        for key in sorted(set(property.required_names) - keys):
            hint = f"write `{name}.{key}`"
            yield Problem(paths[parts], f"{name} lacks `{key}`, which CloudFormation requires", hint)
