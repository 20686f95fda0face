"""What builds an engine: a GPU of the family that will serve it, on one of AWS's services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fleet.catalog.builds import Build, build_support
from fleet.catalog.instances import Instance

Way = Literal["codebuild", "fleet", "processing", "training"]
Project = Literal["gpu", "job", "image"]
"""A CodeBuild project: of engines on a GPU, of jobs that build engines, of images."""


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Who builds.

    Attributes:
        way: CodeBuild's own GPU, a fleet of reserved ones, or a SageMaker job.
        project: The CodeBuild project that is started: of GPUs, or the one that runs the job.
        instance_type: That of the job, or of SageMaker with the GPU that CodeBuild has.
        fleet_arn: The CodeBuild fleet; None without.
        why: The reason, in one sentence.
    """

    way: Way
    project: Project
    instance_type: str
    fleet_arn: str | None
    why: str


@dataclass(frozen=True)
class NoRunner:
    """Why no service builds the engine, and what to write instead."""

    message: str
    hint: str


def runner_for(machine: Instance, region: str, fleets: Mapping[str, str]) -> Runner | NoRunner:
    """Who builds the engines of an instance type: a fleet of its family, else what AWS prefers in the region.

    Args:
        machine: The instance type that will serve them.
        region: Where.
        fleets: The ARNs of the environment's CodeBuild fleets, by family.
    """
    if machine.architecture != "x86_64":
        message = f"{machine.type} has a CPU of {machine.architecture}, on which Triton's image does not run"
        return NoRunner(message, "use another instance family")
    if arn := fleets.get(machine.family):
        return Runner(
            way="fleet",
            project="gpu",
            instance_type=machine.type,
            fleet_arn=arn,
            why=f"`engine_builds.fleets` of the environment names a fleet of {machine.family}",
        )
    # On demand CodeBuild has what is certain; the others it may have on a fleet.
    ways = [each for each in build_support(machine.family) if each.certain]
    for number, build in enumerate(ways):
        if build.takes(machine, region):
            return _runner(build, machine, passed_over=ways[:number], region=region)
    tried = " and ".join(_lacks(each, machine, region) for each in ways)
    message = f"no AWS service can build engines for {machine.type}" + (
        f" in {region}: {tried}" if tried else ""
    )
    return NoRunner(
        message, "use another instance family, or name a CodeBuild fleet under `engine_builds.fleets`"
    )


def _runner(build: Build, machine: Instance, passed_over: list[Build], region: str) -> Runner:
    if build.way == "codebuild":
        return Runner(
            way="codebuild",
            project="gpu",
            instance_type=machine.type,
            fleet_arn=None,
            why=f"CodeBuild has the GPU of {machine.type} on demand: {machine.gpu}",
        )
    lacking = "; ".join(_lacks(each, machine, region) for each in passed_over)
    lacking = lacking or f"CodeBuild has no {machine.gpu} on demand"
    return Runner(
        way=build.way,
        project="job",
        instance_type=machine.type,
        fleet_arn=None,
        why=f"{lacking}; a SageMaker {build.way.capitalize()} job runs the same image on {machine.type}",
    )


def _lacks(build: Build, machine: Instance, region: str) -> str:
    if build.way == "codebuild":
        return f"CodeBuild has no GPU in {region}"
    if build.sizes and machine.type.rpartition(".")[2] not in build.sizes:
        return f"{build.way.capitalize()} jobs offer {machine.family} as {', '.join(build.sizes)} only"
    what = machine.type if region in build.lacks else machine.family
    return f"{build.way.capitalize()} jobs are not offered on {what} in {region}"
