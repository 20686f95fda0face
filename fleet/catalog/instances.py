"""GPU instances that SageMaker hosts, and the host image that gives them the driver a container needs."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One instance type; `compute_capability` as NVIDIA writes it, `gpu_memory_mib` of each GPU."""

    type: str
    family: str
    gpu: str
    compute_capability: str
    gpu_memory_mib: int
    gpus: int
    vcpus: int
    memory_gib: int


def instance_types() -> list[str]:
    """Every instance type of the catalog."""
    families = data_file("instances.yaml")["families"]
    return [f"ml.{family}.{size}" for family, facts in families.items() for size in facts["sizes"]]


def instance(instance_type: str) -> Instance:
    """What is known of an instance type.

    Raises:
        KeyError: the catalog does not have it.
    """
    family, size = instance_type.removeprefix("ml.").split(".")
    facts = data_file("instances.yaml")["families"][family]
    gpu = {key: facts[key] for key in ("gpu", "compute_capability", "gpu_memory_mib")}
    return Instance(type=instance_type, family=family, **gpu, **facts["sizes"][size])


def inference_ami(cuda: int, family: str) -> str | None:
    """The host image whose driver runs containers of a CUDA major version; None where a family has none."""
    amis = data_file("amis.yaml")["amis"]
    fitting = (name for name, ami in amis.items() if ami["cuda"] == cuda and family in ami["families"])
    return next(fitting, None)


def families_with_driver(cuda: int) -> list[str]:
    """Families that can run containers of a CUDA major version."""
    amis = data_file("amis.yaml")["amis"].values()
    return sorted({family for ami in amis if ami["cuda"] == cuda for family in ami["families"]})
