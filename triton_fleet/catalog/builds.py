"""Which of SageMaker's jobs can build a TensorRT engine for an instance family, on the same GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.instances import Instance

Way = Literal["processing", "training"]


@dataclass(frozen=True, kw_only=True)
class Build:
    """One way: a job of SageMaker's.

    Attributes:
        sizes: The only sizes of the family that it takes; empty for all of them.
        not_in: Regions that host the family and do not sell it for this.
        lacks: The sizes that regions do not sell, which sell the others.
    """

    way: Way
    sizes: tuple[str, ...]
    not_in: tuple[str, ...]
    lacks: Mapping[str, Sequence[str]]

    def takes(self, machine: Instance, region: str) -> bool:
        """Whether an instance type's GPU can be had so in a region."""
        size = machine.type.rpartition(".")[2]
        sold = region not in self.not_in and size not in self.lacks.get(region, ())
        return sold and (not self.sizes or size in self.sizes)


@cache
def build_support(family: str) -> tuple[Build, ...]:
    """The ways in which an engine can be built for a family, the one to prefer first."""
    ways = data_file("builds.yaml")["families"].get(family, {})
    return tuple(
        Build(
            way=way,
            sizes=tuple(facts.get("sizes", ())),
            not_in=tuple(facts.get("not_in", ())),
            lacks=facts.get("lacks", {}),
        )
        for way, facts in ways.items()
    )


def build_quota(project: str) -> str:
    """The name of the quota of concurrent builds in Service Quotas.

    Args:
        project: "job" for builds that start a SageMaker job, "image" for those of images.
    """
    return str(data_file("codebuild.yaml")["quotas"][project])
