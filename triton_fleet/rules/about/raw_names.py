"""Rules about the raw properties of `cloudformation`: the models, images and reservations that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.catalog.images import partition_of, registry_host
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.machines import OWN_VARIANT, has_pools
from triton_fleet.context.raw import raw_properties
from triton_fleet.context.registries import IMAGE
from triton_fleet.findings import Severity
from triton_fleet.rules.raw import OWN_MODEL_NAME, judged_properties, outermost
from triton_fleet.rules.rule import Problem, rule

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
        found = REGISTRY.match(raw.value) if raw.name == IMAGE and isinstance(raw.value, str) else None
        if found is not None and (found["region"], found["dns"]) != (region, partition_of(region).dns):
            message = (
                f"the image is in {found['region']} ({found['dns']}), and the endpoint is in {region}:"
                " SageMaker pulls images only from its own region"
            )
            here = registry_host(found["account"], region)
            yield Problem(raw.path, message, f"copy it to {region}, and write {here}/…")


def _reservations(endpoint: EndpointContext) -> Iterator[Problem]:
    region, account = endpoint.region, endpoint.environment.account
    wanted = [partition_of(region).name, "sagemaker", region, account]
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
        if raw.value.split(":")[1:5] != wanted:
            message = f"{raw.value} is not a reservation of account {account} in {region}"
            yield Problem(raw.path, message, f"name one whose ARN begins with arn:{':'.join(wanted)}:")
