"""The instance types that an endpoint may run on: its spec's own, and those that raw properties bring in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from triton_fleet.catalog.properties import is_index
from triton_fleet.context.raw import RawProperty, is_intrinsic, raw_properties
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.source import KeyPath

OWN_VARIANT = "ProductionVariants.0"
"""The variant that the spec describes."""
OWN_MODEL = "Model0301700E"
"""The logical id of the Model in the template of every endpoint."""
SHADOWS = "ShadowProductionVariants"
VARIANTS = ("ProductionVariants", SHADOWS)
POOLS = "InstancePools"
MAX_POOLS = 5
"""SageMaker takes no more in a variant. Source: botocore 1.44.5, InstancePoolList."""
RawProperties: TypeAlias = Mapping[tuple[str, ...], RawProperty]
"""Raw properties by their path below a variant or a pool; the last one wins, as in the template."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """An instance type in a variant.

    Attributes:
        type: The instance type.
        path: Where it stands.
        label: What a message calls it; empty for `instance.type`.
        variant: The variant's place, such as `ShadowProductionVariants.0`.
        ami: The host image that is named for the variant; "" where it is taken out, None where none is named.
        ami_path: Where that stands.
        runs_model: Whether the model that the spec describes runs on it.
    """

    type: str
    path: KeyPath
    label: str
    variant: str
    ami: str | None
    ami_path: KeyPath
    runs_model: bool


@dataclass(frozen=True, kw_only=True)
class Pool:
    """An item of a variant's InstancePools; what an intrinsic function computes is not known.

    Attributes:
        path: Where it stands.
        type: Its instance type; None where CloudFormation computes it, or where it is missing.
        type_path: Where that stands.
        priority: From 1, the first to be tried.
        model: Its ModelNameOverride.
    """

    path: KeyPath
    type: str | None
    type_path: KeyPath
    priority: int | None
    model: RawProperty | None


def machines(spec: EndpointSpec, variants: Mapping[str, RawProperties]) -> tuple[Machine, ...]:
    """The spec's own instance type first, then what raw properties bring in, each once.

    SageMaker takes InstancePools in place of an InstanceType; a pool of the spec's own type is the spec's
    own. What CloudFormation computes is not known here. More pools and shadow variants than SageMaker takes
    (too-many-variants, FL350) are left out.
    """
    ami_name, ami_path = _ami(variants.get(OWN_VARIANT, {}))
    if ami_name is None:
        ami_name, ami_path = spec.instance.ami, ("instance", "ami")
    own = Machine(
        type=spec.instance.type,
        path=("instance", "type"),
        label="",
        variant=OWN_VARIANT,
        ami=ami_name,
        ami_path=ami_path,
        runs_model=True,
    )
    identities = {_identity(own): own}
    shadow = next((variant for variant in variants if variant.startswith(SHADOWS)), None)
    for variant, raws in variants.items():
        if variant in (OWN_VARIANT, shadow):
            for machine in _machines(variant, raws, own):
                identities.setdefault(_identity(machine), machine)
    return tuple(identities.values())


def own_machines(spec: EndpointSpec) -> tuple[Machine, ...]:
    """The machines of the spec's own variant: its instance type, then its further instance pools."""
    return tuple(machine for machine in machines(spec, raw_variants(spec)) if machine.variant == OWN_VARIANT)


def raw_variants(spec: EndpointSpec) -> Mapping[str, RawProperties]:
    """The raw properties of the spec's own variant and of shadow variants, by the variant's place.

    A variant that CloudFormation computes has none.
    """
    variants = defaultdict[str, dict[tuple[str, ...], RawProperty]](dict)
    for raw in raw_properties(spec, "EndpointConfig"):
        variant = ".".join(raw.parts[:2])
        is_shadow = raw.parts[0] == SHADOWS and len(raw.parts) > 1 and is_index(raw.parts[1])
        is_computed = len(raw.parts) == len((SHADOWS, "0")) and is_intrinsic(raw.value)
        if (is_shadow or variant == OWN_VARIANT) and not is_computed:
            variants[variant][raw.parts[2:]] = raw
    return variants


def further_variant(raw: RawProperty) -> str:
    """The place of the variant, beside the spec's own, that a raw property is of; empty for any other."""
    outer, *inner = raw.parts[:2]
    place = ".".join(raw.parts[:2])
    is_further = outer == VARIANTS[0] and inner and is_index(inner[0]) and place != OWN_VARIANT
    return place if is_further else ""


def has_pools(raws: RawProperties) -> bool:
    """Whether a variant has InstancePools, of whatever value."""
    whole = raws.get((POOLS,))
    return bool(pools(raws)) or (whole is not None and whole.value is not None)


def pools(raws: RawProperties) -> tuple[Pool, ...]:
    """The instance pools of a variant, in the order in which they are written."""
    pools_by_variant = defaultdict[str, dict[str, RawProperty]](dict)
    places = dict[str, KeyPath]()
    for parts, raw in raws.items():
        if parts[0:1] == (POOLS,) and len(parts) > 1 and is_index(parts[1]):
            places.setdefault(parts[1], raw.path)
            if len(parts) == len((POOLS, "0", "InstanceType")):
                pools_by_variant[parts[1]][parts[2]] = raw
    return tuple(_pool(path, pools_by_variant[index]) for index, path in places.items())


def names_own_model(value: object) -> bool:
    """Whether a template's value is the name of the Model that the spec describes."""
    names: list[object] = [[OWN_MODEL, "ModelName"], (OWN_MODEL, "ModelName"), f"{OWN_MODEL}.ModelName"]
    return isinstance(value, Mapping) and list(value) == ["Fn::GetAtt"] and value["Fn::GetAtt"] in names


def _machines(variant: str, raws: RawProperties, own: Machine) -> Iterator[Machine]:
    is_own = variant == own.variant
    model = raws.get(("ModelName",))
    runs_model = is_own if model is None else names_own_model(model.value)
    ami, ami_path = (own.ami, own.ami_path) if is_own else _ami(raws)
    description = "" if is_own else _describe_variant(variant, raws)
    single = raws.get(("InstanceType",))
    if single is not None and isinstance(single.value, str):
        yield Machine(
            type=single.value,
            path=single.path,
            label=description or single.name,
            variant=variant,
            ami=ami,
            ami_path=ami_path,
            runs_model=runs_model,
        )
    for position, pool in enumerate(pools(raws)[:MAX_POOLS], 1):
        if pool.type is not None:
            label = f"instance pool {pool.priority or position}"
            yield Machine(
                type=pool.type,
                path=pool.type_path,
                label=f"{description}, {label}" if description else label,
                variant=variant,
                ami=ami,
                ami_path=ami_path,
                runs_model=runs_model if pool.model is None else names_own_model(pool.model.value),
            )


def _identity(machine: Machine) -> tuple[object, ...]:
    return machine.variant, machine.type, machine.runs_model


def _pool(path: KeyPath, raws: Mapping[str, RawProperty]) -> Pool:
    kind, priority = raws.get("InstanceType"), raws.get("Priority")
    return Pool(
        path=path,
        type=kind.value if kind is not None and isinstance(kind.value, str) else None,
        type_path=path if kind is None else kind.path,
        priority=priority.value if priority is not None and isinstance(priority.value, int) else None,
        model=raws.get("ModelNameOverride"),
    )


def _ami(raws: RawProperties) -> tuple[str | None, KeyPath]:
    raw = raws.get(("InferenceAmiVersion",))
    if raw is None:
        return None, ()
    return ("" if raw.value is None else str(raw.value)), raw.path


def _describe_variant(variant: str, raws: RawProperties) -> str:
    name = raws.get(("VariantName",))
    return f"shadow variant {name.value}" if name is not None and isinstance(name.value, str) else variant
