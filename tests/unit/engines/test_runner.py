"""What builds an engine: a GPU of the family that serves it, on the service that has one in the region."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from fleet.catalog.instances import Processor, hosted_in, instance, instance_types
from fleet.engines.runner import NoRunner, Runner, runner_for

FLEET = "arn:aws:codebuild:us-east-1:111122223333:fleet/gpus:1b2c"


def runner(machine: str, region: str = "us-east-1", **fleets: str) -> Runner:
    found = runner_for(instance(machine), region, fleets)
    assert isinstance(found, Runner)
    return found


@pytest.mark.parametrize(
    ("machine", "region", "way", "project"),
    [
        ("ml.g5.xlarge", "us-east-1", "codebuild", "gpu"),
        ("ml.g5.48xlarge", "eu-west-1", "codebuild", "gpu"),
        ("ml.g5.xlarge", "eu-north-1", "processing", "job"),
        ("ml.g5.xlarge", "ap-southeast-1", "training", "job"),
        ("ml.g4dn.xlarge", "us-east-1", "processing", "job"),
        ("ml.g6.xlarge", "eu-west-1", "training", "job"),
        ("ml.g7e.2xlarge", "us-east-1", "training", "job"),
        ("ml.p4d.24xlarge", "us-east-1", "training", "job"),
        ("ml.p5.4xlarge", "us-west-1", "processing", "job"),
        ("ml.p5.48xlarge", "us-west-1", "training", "job"),
    ],
)
def test_a_family_is_built_for_where_its_gpu_can_be_had(
    machine: str, region: str, way: str, project: str
) -> None:
    found = runner(machine, region)
    assert (found.way, found.project, found.instance_type, found.fleet_arn) == (way, project, machine, None)


@pytest.mark.parametrize(
    ("machine", "region", "why"),
    [
        ("ml.g5.xlarge", "us-east-1", "CodeBuild has the GPU of ml.g5.xlarge on demand: A10G"),
        (
            "ml.g5.xlarge",
            "eu-north-1",
            "CodeBuild has no GPU in eu-north-1; a SageMaker Processing job runs the same image on ml.g5.xlarge",
        ),
        (
            "ml.g4dn.xlarge",
            "us-east-1",
            "CodeBuild has no T4 on demand; a SageMaker Processing job runs the same image on ml.g4dn.xlarge",
        ),
        (
            "ml.g6.xlarge",
            "eu-west-1",
            "Processing jobs are not offered on g6 in eu-west-1; a SageMaker Training job runs the same image on"
            " ml.g6.xlarge",
        ),
        (
            "ml.g6e.xlarge",
            "us-east-1",
            "Processing jobs are not offered on ml.g6e.xlarge in us-east-1; a SageMaker Training job runs the same"
            " image on ml.g6e.xlarge",
        ),
        (
            "ml.p5.48xlarge",
            "us-east-1",
            "Processing jobs offer p5 as 4xlarge only; a SageMaker Training job runs the same image on"
            " ml.p5.48xlarge",
        ),
    ],
)
def test_the_reason_names_what_was_passed_over(machine: str, region: str, why: str) -> None:
    assert runner(machine, region).why == why


def test_a_fleet_of_the_family_comes_first() -> None:
    found = runner("ml.g5.xlarge", g5=FLEET)
    assert (found.way, found.project, found.fleet_arn) == ("fleet", "gpu", FLEET)
    assert runner("ml.g5.xlarge", g4dn=FLEET).way == "codebuild"


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ("ml.p3.2xlarge", "no AWS service can build engines for ml.p3.2xlarge"),
        ("ml.p2.xlarge", "no AWS service can build engines for ml.p2.xlarge"),
        ("ml.p6e-gb200.36xlarge", "has a CPU of arm64, on which Triton's image does not run"),
    ],
)
def test_what_nobody_builds_for_is_told_with_its_reason(machine: str, message: str) -> None:
    found = runner_for(instance(machine), "us-east-1", {})
    assert isinstance(found, NoRunner)
    assert message in found.message and found.hint


def test_processing_builds_where_it_is_sold_and_nothing_else_where_it_is() -> None:
    types: Any = get_session().get_service_model("sagemaker").shape_for("ProcessingInstanceType")
    processing = set(types.enum)
    hosting, sold = (sold_in(service) for service in ("hosting", "processing"))
    for region, machines in hosting.items():
        for each in map(instance, machines & set(instance_types())):
            if each.kind is Processor.GPU and runner(each.type, region).way != "codebuild":
                is_sold = each.type in sold.get(region, set()) & processing
                way = "processing" if is_sold else "training"
                assert runner(each.type, region).way == way, (each.type, region)


def sold_in(service: str) -> dict[str, set[str]]:
    """cfn-lint's own list of what AWS's prices name, by region."""
    place = find_spec("cfnlint")
    assert place is not None and place.submodule_search_locations is not None
    (root,) = place.submodule_search_locations
    file = Path(root) / f"data/schemas/extensions/aws_sagemaker_{service}/instancetype_enum.json"
    regions = json.loads(file.read_text("utf-8"))
    return {name: set(each["enum"]) for name, each in regions.items() if isinstance(each, dict)}


def test_every_gpu_that_is_hosted_anywhere_is_built_for_there() -> None:
    gpus = [instance(each) for each in instance_types()]
    for machine in (each for each in gpus if each.kind is Processor.GPU and each.architecture == "x86_64"):
        for region in ("us-east-1", "us-west-2", "eu-central-1", "ap-northeast-1", "eu-south-2"):
            if machine.type in hosted_in(region):
                assert isinstance(runner_for(machine, region, {}), Runner), (machine.type, region)
