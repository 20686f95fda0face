"""Rules about the raw properties of `cloudformation` for instance pools and shadow variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.catalog.properties import pool_regions
from triton_fleet.context.alarms import missing_metric, thresholds
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.machines import (
    MAX_POOLS,
    OWN_VARIANT,
    POOLS,
    SHADOWS,
    VARIANTS,
    RawProperties,
    further_variant,
    has_pools,
    pools,
)
from triton_fleet.context.raw import is_intrinsic, raw_properties
from triton_fleet.findings import Severity
from triton_fleet.rules.raw import judged_properties
from triton_fleet.rules.rule import POOL, Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import KeyPath

HETEROGENEOUS = "https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-heterogeneous.html"


POOL_EXAMPLES = "https://github.com/aws-samples/sagemaker-genai-hosting-examples/tree/main/03-features/capacity-aware-instance-pool"
METRICS = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html"
WRITTEN_OUT = (
    SHADOWS,
    f"{SHADOWS}.*",
    *(f"{variant}.*.{POOLS}{item}" for variant in VARIANTS for item in ("", ".*")),
)
"""Properties that add instance types, by its general name."""
PARTS = {"gpus": "GPUs", "vcpus": "vCPUs"}


@rule("FL347", source=HETEROGENEOUS)
def unsupported_pool_or_shadow(endpoint: EndpointContext) -> Iterator[Problem]:
    """Instance pools and shadow variants fit the mode and the instance type of the spec.

    SageMaker accepts neither on multi-model endpoints, and pools only in place of an instance type. Image,
    engines, alarms and costs depend on `instance.type`, which has to be the type of the first pool. An
    intrinsic function in place of pools or shadow variants adds instance types that no rule checks.
    """
    for raw in judged_properties(endpoint, "EndpointConfig"):
        if raw.general in WRITTEN_OUT and is_intrinsic(raw.value):
            message = f"{raw.name} is an intrinsic function: its result cannot be checked"
            yield Problem(raw.path, message, "write the value itself")
    for variant, raws in endpoint.raw_variants.items():
        yield from _pools(endpoint, variant, raws)
        if variant.startswith(SHADOWS):
            yield from _instance_type(variant, raws)
    shadow = next(iter(_shadows(endpoint)), None)
    if shadow is not None and endpoint.spec.mode is Mode.MULTI_MODEL:
        message = "SageMaker accepts no shadow variant for a multi-model endpoint"
        yield Problem(_path_of(shadow), message, "leave it out, or write `mode: single`")


@rule("FL531", Severity.WARNING, source=POOL_EXAMPLES)
def instance_pools_outside_region(endpoint: EndpointContext) -> Iterator[Problem]:
    """AWS lists instance pools in the environment's region.

    The only list is that of AWS's examples, of May 2026. SageMaker may have added regions since.
    """
    regions = pool_regions()
    for raws in endpoint.raw_variants.values() if endpoint.region not in regions else ():
        if own := pools(raws):
            message = (
                f"AWS lists instance pools in {len(regions)} regions,"
                f" and {endpoint.region} is not one of them"
            )
            near = [region for region in regions if region[:2] == endpoint.region[:2]] or regions
            hint = f"leave {POOLS} out, or use a region that has them: {', '.join(near)}"
            yield Problem(own[0].path, message, hint)


@POOL.rule("FL348", source=METRICS)
def inconsistent_pool_metric(endpoint: EndpointContext) -> Iterator[Problem]:
    """Targets and alarms fit the GPUs and vCPUs of every instance pool.

    SageMaker adds up the utilisation of an instance's GPUs and vCPUs: with four, it rises to 400 percent. The
    variant has one target and one threshold, computed for `instance.type`. For a pool with another number of
    GPUs or vCPUs, they are too low or too high.
    """
    own, machine = endpoint.own_machine, endpoint.machine
    if own is None or machine is None or own.type == machine.type:
        return
    for path, measure in _measures(endpoint.base or endpoint).items():
        metric, key = endpoint_metric(measure), ".".join(map(str, path))
        if not metric.adds_up:
            continue
        own_number, number = (getattr(pool, metric.adds_up) for pool in (own, machine))
        if own_number and number and own_number != number:
            part = PARTS[metric.adds_up]
            message = (
                f"`{key}` is for the {part} of {own.type} ({own_number}), and {machine.type} has {number}:"
                f" {metric.name} adds them up"
            )
            yield Problem(path, message, f"use pools with as many {part}, or leave `{key}` out")


@rule("FL350", source=CONFIG, is_needed=True)
def too_many_variants(endpoint: EndpointContext) -> Iterator[Problem]:
    """An endpoint has one variant and at most one shadow variant, each with at most five instance pools.

    The product scales and monitors one variant. SageMaker accepts neither a second shadow variant nor a sixth
    pool. Nothing beyond these is checked, so a spec cannot allow itself more.
    """
    paths = dict[str, KeyPath]()
    for raw in raw_properties(endpoint.spec, "EndpointConfig"):
        if variant := further_variant(raw):
            paths.setdefault(variant, raw.path)
    for variant, path in paths.items():
        yield Problem(path, "an endpoint has one variant", f"remove {variant}")
    for raws in _shadows(endpoint)[1:]:
        yield Problem(
            _path_of(raws), "SageMaker accepts one shadow variant beside one variant", "leave it out"
        )
    for variant, raws in endpoint.raw_variants.items():
        entries = pools(raws)
        if len(entries) > MAX_POOLS:
            message = f"{variant} has {len(entries)} instance pools, and SageMaker accepts {MAX_POOLS}"
            yield Problem(entries[MAX_POOLS].path, message, "leave the others out")


def _measures(endpoint: EndpointContext) -> Mapping[KeyPath, str]:
    """The measures of SageMaker that scaling and alarms go by, by their keys in the spec."""
    scaling = endpoint.spec.scaling
    targets: dict[KeyPath, str] = {
        ("scaling", target): target for target in (scaling.targets if scaling else ())
    }
    records = [
        threshold.record
        for threshold in thresholds(endpoint.spec)
        if not missing_metric(threshold.record, endpoint)
    ]
    return targets | {("alarms", record.key): record.measure for record in records if record.unit == "part"}


def _shadows(endpoint: EndpointContext) -> list[RawProperties]:
    return [raws for variant, raws in endpoint.raw_variants.items() if variant.startswith(SHADOWS)]


def _instance_type(variant: str, raws: RawProperties) -> Iterator[Problem]:
    single = raws.get(("InstanceType",))
    if not has_pools(raws) and (single is None or single.value is None):
        message = f"{variant} has no instance type"
        yield Problem(_path_of(raws), message, f"write `{variant}.InstanceType`")


def _pools(endpoint: EndpointContext, variant: str, raws: RawProperties) -> Iterator[Problem]:
    entries, own_type = pools(raws), endpoint.spec.instance.type
    if not entries:
        return
    if endpoint.spec.mode is Mode.MULTI_MODEL:
        message = "SageMaker accepts no instance pools for a multi-model endpoint"
        yield Problem(entries[0].path, message, "leave them out, or write `mode: single`")
    single = raws.get(("InstanceType",))
    if single is not None and single.value is not None:
        message = f"{variant} has {POOLS}, which replace an InstanceType"
        yield Problem(single.path, message, "leave the InstanceType out")
    first = min(enumerate(entries, 1), key=lambda entry: entry[1].priority or entry[0])[1]
    if variant == OWN_VARIANT and first.type is not None and first.type != own_type:
        message = f"the first instance pool is {first.type}, and `instance.type` is {own_type}"
        hint = f"write `instance: {{type: {first.type}}}`, or give {own_type} the priority 1"
        yield Problem(first.type_path, message, hint)


def _path_of(raws: RawProperties) -> KeyPath:
    return next(iter(raws.values())).path
