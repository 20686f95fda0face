"""The builder of an engine: a SageMaker job on the instance type that will serve it."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.engines import Build, Way, build_support
from triton_fleet.catalog.instances import Instance


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Who builds.

    Attributes:
        way: The kind of the SageMaker job.
        instance_type: That of the job.
        reason: The reason, in one sentence.
    """

    way: Way
    instance_type: str
    reason: str


@dataclass(frozen=True)
class NoRunner:
    """Why no service builds the engine, and what to write instead."""

    message: str
    hint: str


def runner_for(machine: Instance, region: str) -> Runner | NoRunner:
    """Who builds the engines of an instance type: the first kind of job that has it in the region.

    Args:
        machine: The instance type that will serve them.
        region: Where.
    """
    if machine.architecture != "x86_64":
        message = f"{machine.type} has a CPU of {machine.architecture}, on which Triton's image does not run"
        return NoRunner(message, "use another instance family")
    ways = build_support(machine.family)
    for number, build in enumerate(ways):
        if build.takes(machine, region):
            refusals = "".join(f"{_lacks(build_way, machine, region)}; " for build_way in ways[:number])
            reason = f"{refusals}a SageMaker {build.way.capitalize()} job runs the image on {machine.type}"
            return Runner(way=build.way, instance_type=machine.type, reason=reason)
    attempts = " and ".join(_lacks(build_way, machine, region) for build_way in ways)
    message = f"no SageMaker job can build engines for {machine.type} in {region}" + (
        f": {attempts}" if attempts else ""
    )
    return NoRunner(message, "use another instance family")


def _lacks(build: Build, machine: Instance, region: str) -> str:
    if build.sizes and machine.type.rpartition(".")[2] not in build.sizes:
        return f"{build.way.capitalize()} jobs offer {machine.family} as {', '.join(build.sizes)} only"
    subject = machine.type if region in build.lacks else machine.family
    return f"{build.way.capitalize()} jobs are not offered on {subject} in {region}"
