"""SageMaker's host images: the driver that each has, and the instance families that take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import regions_of, release, releases
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.catalog.releases import numbers


@dataclass(frozen=True, kw_only=True)
class Ami:
    """A host image; the name is empty for SageMaker's default.

    Attributes:
        driver: NVIDIA's driver branch, such as "550"; empty without a GPU.
        cuda: The newest CUDA major version whose containers it runs; 0 without a GPU.
        accepts: Families that are proved to take it.
        at_times: Families that take it, and were refused with it at other times.
        unproven: Families that may take it: the sources do not settle it.
        refuses: Families that SageMaker refuses with it, or on which it cannot work.
        gpu: Whether it is for GPU instances.
    """

    name: str
    driver: str
    cuda: int
    accepts: tuple[str, ...]
    at_times: tuple[str, ...]
    unproven: tuple[str, ...]
    refuses: tuple[str, ...]
    gpu: bool

    def proved_for(self, *families: str) -> bool:
        """Whether it is proved that all families take it."""
        return set(families) <= set(self.accepts)

    def may_run(self, *families: str) -> bool:
        """Whether no family is known to refuse it, or to have no driver in it."""
        return set(families) <= {*self.accepts, *self.at_times, *self.unproven}


def amis() -> list[Ami]:
    """Every host image that the API names, the one to prefer first."""
    return [_ami(name, facts) for name, facts in data_file("amis.yaml")["amis"].items()]


def ami(name: str) -> Ami:
    """A host image by its name.

    Raises:
        KeyError: the API has no such InferenceAmiVersion.
    """
    return _ami(name, data_file("amis.yaml")["amis"][name])


def default_driver(family: str) -> str | None:
    """The driver branch of a family's hosts when no host image is named; None where that is unknown."""
    drivers: dict[str, list[str]] = data_file("amis.yaml")["default_drivers"]
    return next((driver for driver, families in drivers.items() if family in families), None)


def runs_by_default(cuda: int, family: str) -> bool:
    """Whether the driver of a family without a named host image is known to run a CUDA major version."""
    driver = default_driver(family)
    return driver is not None and int(driver) >= int(least_driver(cuda))


def least_driver(cuda: int) -> str:
    """The oldest driver branch that runs containers of a CUDA major version, such as "525".

    Raises:
        KeyError: the facts do not know that version.
    """
    drivers: dict[int, str] = data_file("amis.yaml")["least_drivers"]
    return drivers[cuda]


def inference_ami(cuda: int, *families: str) -> Ami | None:
    """The host image for containers of a CUDA major version on all families; None where none is known to fit.

    Its name is empty where SageMaker's own choice is the one that fits.
    """
    confirmed_ami = next((ami for ami in _for_cuda(cuda) if ami.proved_for(*families)), None)
    return confirmed_ami or next((ami for ami in _for_cuda(cuda) if ami.may_run(*families)), None)


def unnamed_ami() -> Ami:
    """SageMaker's default host image; its name is empty."""
    return _ami("", data_file("amis.yaml")["unnamed"])


def families_with_driver(cuda: int) -> list[str]:
    """Families that run containers of a CUDA major version, proved or not."""
    return sorted({family for ami in _for_cuda(cuda) for family in ami.accepts + ami.at_times + ami.unproven})


@cache
def releases_on(machine: Instance, region: str) -> tuple[str, ...]:
    """Releases whose image runs on an instance type in a region, by all that is known; the oldest first."""
    return tuple(
        release for release in releases() if region in regions_of(release) and _runs(release, machine)
    )


def _runs(name: str, machine: Instance) -> bool:
    if machine.kind is not Processor.GPU:
        return machine.kind is Processor.CPU
    min_capability = release(name).min_compute_capability
    if numbers(machine.compute_capability) < numbers(min_capability):
        return False
    return inference_ami(release(name).cuda_major, machine.family) is not None


@cache
def _for_cuda(cuda: int) -> tuple[Ami, ...]:
    return tuple(ami for ami in (unnamed_ami(), *amis()) if ami.gpu and ami.cuda == cuda)


def _ami(name: str, facts: dict[str, Any]) -> Ami:
    families = {key: tuple(facts.get(key, ())) for key in ("accepts", "at_times", "unproven", "refuses")}
    driver = facts.get("driver", "")
    return Ami(name=name, driver=driver, cuda=facts.get("cuda", 0), gpu=bool(driver), **families)
