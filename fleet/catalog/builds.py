"""Where a TensorRT engine for an instance family can be built: on the same GPU, on one of AWS's services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from fleet.catalog.data_file import data_file
from fleet.catalog.instances import Instance

Way = Literal["codebuild", "processing", "training"]


@dataclass(frozen=True, kw_only=True)
class Build:
    """One way: "codebuild", "processing" or "training"; uncertain of CodeBuild: only on a fleet.

    Attributes:
        sizes: The only sizes of the family that it takes; empty for all of them.
        only_in: The only regions that have it; empty where all do but those of `not_in`.
        not_in: Regions that host the family and do not sell it for this.
        lacks: The sizes that regions do not sell, which sell the others.
        certain: Whether AWS's API or documentation confirms it.
        note: What else must be known, in one sentence; or empty.
    """

    way: Way
    sizes: tuple[str, ...]
    only_in: tuple[str, ...]
    not_in: tuple[str, ...]
    lacks: Mapping[str, Sequence[str]]
    certain: bool
    note: str

    def takes(self, machine: Instance, region: str) -> bool:
        """Whether an instance type's GPU can be had so in a region."""
        size = machine.type.rpartition(".")[2]
        sold = region not in self.not_in and (not self.only_in or region in self.only_in)
        sold = sold and size not in self.lacks.get(region, ())
        return sold and (not self.sizes or size in self.sizes)


@cache
def build_support(family: str) -> tuple[Build, ...]:
    """The ways in which an engine can be built for a family, the one to prefer first."""
    ways = data_file("builds.yaml")["families"].get(family, {})
    return tuple(
        Build(
            way=way,
            sizes=tuple(facts.get("sizes", ())),
            only_in=tuple(facts.get("only_in", ())),
            not_in=tuple(facts.get("not_in", ())),
            lacks=facts.get("lacks", {}),
            certain=facts.get("certain", True),
            note=facts.get("note", ""),
        )
        for way, facts in ways.items()
    )


@cache
def codebuild_has_gpus(region: str) -> bool:
    """Whether CodeBuild has GPUs on demand in a region."""
    families = data_file("builds.yaml")["families"]
    ways = [each for family in families for each in build_support(family) if each.way == "codebuild"]
    return any(each.certain and (not each.only_in or region in each.only_in) for each in ways)


def codebuild_family(compute_type: str) -> str:
    """The instance family whose GPU CodeBuild's on-demand builds have: `g5`.

    Raises:
        KeyError: no build with a GPU has this compute type.
    """
    return str(data_file("codebuild.yaml")["gpu_computes"][compute_type])


def build_quota(project: str) -> str:
    """The name of the quota of concurrent builds in Service Quotas.

    Args:
        project: "gpu" for builds on a GPU of CodeBuild's, "job" for those that start a SageMaker job, "image"
            for those of images.
    """
    return str(data_file("codebuild.yaml")["quotas"][project])
