"""TensorRT engines: options as trtexec spells them, and the jobs of SageMaker that can build one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.releases import numbers


@dataclass(frozen=True, kw_only=True)
class Option:
    """One value of an engine's option.

    Attributes:
        flag: What trtexec calls it; empty for what it does unasked.
        since: The first TensorRT that knows it; None where all do.
        until: The first TensorRT that no longer does; None where the newest does.
        least_capability: The compute capability that a GPU needs for it; None where all can.
        price: What it costs, in words; empty where nothing.
    """

    flag: str = ""
    since: str | None = None
    until: str | None = None
    least_capability: str | None = None
    price: str = ""

    def known_to(self, tensorrt: str) -> bool:
        """Whether a version of TensorRT has it."""
        is_in_range = self.since is None or numbers(tensorrt) >= numbers(self.since)
        return is_in_range and (self.until is None or numbers(tensorrt) < numbers(self.until))


@cache
def engine_option(option: Literal["precision", "compatibility"], value: str) -> Option:
    """The facts about a value, such as precision "bf16".

    Raises:
        KeyError: the catalog does not have it.
    """
    section = {"precision": "precisions", "compatibility": "compatibilities"}[option]
    return Option(**data_file("tensorrt.yaml")[section][value])


def option_spelling(name: str, tensorrt: str, value: str = "") -> str:
    """An option as trtexec of a version writes it: `--memPoolSize=workspace:1024`.

    Raises:
        KeyError: the catalog does not have it.
    """
    forms = (Option(**option) for option in data_file("tensorrt.yaml")["spellings"][name])
    return next(form.flag for form in forms if form.known_to(tensorrt)).format(value)


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
        is_sold = region not in self.not_in and size not in self.lacks.get(region, ())
        return is_sold and (not self.sizes or size in self.sizes)


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
