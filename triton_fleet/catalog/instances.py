"""Instance types of SageMaker hosting: what each has, where it is sold, and whether it shares its models."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from triton_fleet.catalog.data_file import data_file


class Processor(StrEnum):
    """Processors that an instance computes with."""

    GPU = "gpu"
    CPU = "cpu"
    NEURON = "neuron"
    GAUDI = "gaudi"


class Support(StrEnum):
    """Whether something works, according to its maker."""

    YES = "yes"
    NO = "no"
    UNPROVEN = "unproven"


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One instance type; `compute_capability` as NVIDIA writes it, `gpu_memory_mib` of each GPU.

    Attributes:
        architecture: "x86_64" or "arm64", of its CPU.
        gpu: Its NVIDIA GPUs' model; empty without, as are `compute_capability`, `gpu_memory_mib` and `gpus`.
        nvme_gb: Total local storage; 0 where models are on an EBS volume.
        burstable: Its CPU runs on credits.
        is_retired: AWS gave the family up: the API still names it, no region's price list does.
        in_api: Whether a variant can have it: the price lists name types that the API refuses.
    """

    type: str
    family: str
    kind: Processor
    architecture: str
    gpu: str
    compute_capability: str
    gpu_memory_mib: int
    gpus: int
    vcpus: int
    memory_gib: float
    nvme_gb: int
    burstable: bool
    is_retired: bool
    in_api: bool


@dataclass(frozen=True, kw_only=True)
class MultiModel:
    """Whether an instance can host a multi-model endpoint, and why that is thought."""

    support: Support
    reason: str


@cache
def instance_types() -> tuple[str, ...]:
    """Every instance type of the catalog."""
    families = data_file("instances.yaml")["families"]
    return tuple(f"ml.{family}.{size}" for family, facts in families.items() for size in facts["sizes"])


@cache
def instance(instance_type: str) -> Instance:
    """The facts about an instance type.

    Raises:
        KeyError: the catalog does not have it.
    """
    if instance_type not in instance_types():
        raise KeyError(instance_type)
    data = data_file("instances.yaml")
    _, family, size = instance_type.split(".")
    facts = {**data["defaults"], **data["families"][family]}
    facts |= facts.pop("sizes")[size]
    facts |= {
        "kind": Processor(facts["kind"]),
        "in_api": size in data_file("api_types.yaml")["families"].get(family, ()),
    }
    return Instance(type=f"ml.{family}.{size}", family=family, **facts)


@cache
def most_gpus() -> int:
    """The GPUs of the largest instance."""
    return max(instance(instance_type).gpus for instance_type in instance_types())


@cache
def hosted_in(region: str) -> tuple[str, ...]:
    """Instance types in a region's price list for hosting; none for an unknown region."""
    data = data_file("availability.yaml")
    by_type = data["regions"].get(region, {})
    sizes = {family: _usual_sizes(family) for family in by_type.get("usual", ())} | by_type.get("sizes", {})
    return tuple(f"ml.{family}.{size}" for family in sorted(sizes) for size in sizes[family])


@cache
def hosting_regions(instance_type: str) -> tuple[str, ...]:
    """Regions whose price list for hosting has an instance type."""
    regions = data_file("availability.yaml")["regions"]
    return tuple(region for region in regions if instance_type in hosted_in(region))


@cache
def offered_families() -> frozenset[str]:
    """Families that some region has a price for."""
    return frozenset(instance(name).family for name in instance_types() if hosting_regions(name))


@cache
def takes_no_volume(machine: Instance) -> bool:
    """Whether it is proved that SageMaker takes no volume size for an instance type with local storage."""
    facts = data_file("instances.yaml")["no_volume"]
    return facts["letter"] in machine.family or machine.family.startswith(tuple(facts["families"]))


def multi_model_support(instance: Instance) -> MultiModel:
    """Whether AWS documents multi-model endpoints for an instance type."""
    data = data_file("multi_model.yaml")
    if instance.kind is Processor.CPU:
        answer = "cpu"
    elif instance.kind is not Processor.GPU:
        answer = "other"
    elif instance.gpus > 1:
        answer = "several_gpus"
    else:
        answer = "documented_gpu" if instance.family in data["documented_families"] else "single_gpu"
    return MultiModel(
        support=Support(data["answers"][answer]["support"]), reason=data["answers"][answer]["reason"]
    )


def _usual_sizes(family: str) -> list[str]:
    usual: dict[str, list[str]] = data_file("availability.yaml")["usual_sizes"]
    return usual.get(family) or list(data_file("instances.yaml")["families"][family]["sizes"])
