"""Defaults for the spec of a new endpoint where its repository does not decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.instances import Instance, Processor, instance, instance_types


@dataclass(frozen=True, kw_only=True)
class Proposals:
    """Choices, not facts.

    Attributes:
        memory_share: The share of a GPU's memory, and of a machine's, that weights may take.
        min_instances: Instances that scaling keeps.
        max_instances: Instances that it adds up to.
        utilization: The target for a GPU or a vCPU, in percent.
        open_dimension: The smallest, usual and largest size of a dimension that a model leaves open.
        response_cache_bytes: The cache of a model that asks for one.
    """

    memory_share: float
    min_instances: int
    max_instances: int
    utilization: int
    open_dimension: tuple[int, int, int]
    response_cache_bytes: int


@cache
def proposals() -> Proposals:
    """The choices."""
    data = data_file("proposals.yaml")
    smallest, usual, largest = data["open_dimension"]
    return Proposals(
        memory_share=data["memory_share"],
        **data["instances"],
        utilization=data["utilization"],
        open_dimension=(smallest, usual, largest),
        response_cache_bytes=data["response_cache_bytes"],
    )


def proposed_families(kind: Processor) -> tuple[str, ...]:
    """The families of GPU or CPU instances that are proposed."""
    return tuple(data_file("proposals.yaml")["families"][kind.value])


def proposed_instances(kind: Processor, price: Callable[[str], Decimal | None]) -> tuple[Instance, ...]:
    """Their sizes, the cheapest first; without a price the one with the fewest vCPUs and the least memory.

    `price` is that of an instance type.
    """

    def cost(machine: Instance) -> tuple[Decimal, int, float]:
        hourly_price = price(machine.type)
        return (
            Decimal("Infinity") if hourly_price is None else hourly_price,
            machine.vcpus,
            machine.memory_gib,
        )

    machines = map(instance, instance_types())
    return tuple(
        sorted((candidate for candidate in machines if candidate.family in proposed_families(kind)), key=cost)
    )
