"""The builder of an engine: a SageMaker job on the instance type that serves it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from triton_fleet.builds.engines.runner import NoRunner, Runner, runner_for
from triton_fleet.catalog.instances import Processor, hosted_in, instance, instance_types


def runner(machine: str, region: str = "us-east-1") -> Runner:
    actual_runner = runner_for(instance(machine), region)
    assert isinstance(actual_runner, Runner)
    return actual_runner


@pytest.mark.parametrize(
    ("machine", "region", "way"),
    [
        ("ml.g5.xlarge", "us-east-1", "processing"),
        ("ml.g5.48xlarge", "eu-west-1", "processing"),
        ("ml.g5.xlarge", "eu-north-1", "processing"),
        ("ml.g5.xlarge", "ap-southeast-1", "training"),
        ("ml.g4dn.xlarge", "us-east-1", "processing"),
        ("ml.g6.xlarge", "eu-west-1", "training"),
        ("ml.g7e.2xlarge", "us-east-1", "training"),
        ("ml.p4d.24xlarge", "us-east-1", "training"),
        ("ml.p5.4xlarge", "us-west-1", "processing"),
        ("ml.p5.48xlarge", "us-west-1", "training"),
    ],
)
def test_a_family_is_built_for_where_its_gpu_can_be_had(machine: str, region: str, way: str) -> None:
    actual_runner = runner(machine, region)
    assert (actual_runner.way, actual_runner.instance_type) == (way, machine)


@pytest.mark.parametrize(
    ("machine", "region", "reason"),
    [
        ("ml.g5.xlarge", "us-east-1", "a SageMaker Processing job runs the image on ml.g5.xlarge"),
        (
            "ml.g6.xlarge",
            "eu-west-1",
            "Processing jobs are not offered on g6 in eu-west-1; a SageMaker Training job runs the image on"
            " ml.g6.xlarge",
        ),
        (
            "ml.g6e.xlarge",
            "us-east-1",
            "Processing jobs are not offered on ml.g6e.xlarge in us-east-1; a SageMaker Training job runs the"
            " image on ml.g6e.xlarge",
        ),
        (
            "ml.p5.48xlarge",
            "us-east-1",
            "Processing jobs offer p5 as 4xlarge only; a SageMaker Training job runs the image on"
            " ml.p5.48xlarge",
        ),
    ],
)
def test_the_reason_names_what_was_passed_over(machine: str, region: str, reason: str) -> None:
    assert runner(machine, region).reason == reason


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ("ml.p3.2xlarge", "no SageMaker job can build engines for ml.p3.2xlarge"),
        ("ml.p2.xlarge", "no SageMaker job can build engines for ml.p2.xlarge"),
        ("ml.p6e-gb200.36xlarge", "has a CPU of arm64, on which Triton's image does not run"),
    ],
)
def test_what_nobody_builds_for_is_told_with_its_reason(machine: str, message: str) -> None:
    runner = runner_for(instance(machine), "us-east-1")
    assert isinstance(runner, NoRunner)
    assert message in runner.message and runner.hint


def test_processing_builds_where_it_is_sold_and_nothing_else_where_it_is() -> None:
    types: Any = get_session().get_service_model("sagemaker").shape_for("ProcessingInstanceType")
    processing_types = set(types.enum)
    hosting, names = (sold_in(service) for service in ("hosting", "processing"))
    for region, machines in hosting.items():
        for item in map(instance, machines & set(instance_types())):
            if item.kind is Processor.GPU:
                is_sold = item.type in names.get(region, set()) & processing_types
                way = "processing" if is_sold else "training"
                assert runner(item.type, region).way == way, (item.type, region)


def sold_in(service: str) -> dict[str, set[str]]:
    """cfn-lint's own list of what AWS's prices name, by region."""
    place = find_spec("cfnlint")
    assert place is not None and place.submodule_search_locations is not None
    (root,) = place.submodule_search_locations
    file = Path(root) / f"data/schemas/extensions/aws_sagemaker_{service}/instancetype_enum.json"
    regions = json.loads(file.read_text("utf-8"))
    return {name: set(region["enum"]) for name, region in regions.items() if isinstance(region, dict)}


def test_every_gpu_that_is_hosted_anywhere_is_built_for_there() -> None:
    gpus = [instance(instance_type) for instance_type in instance_types()]
    for machine in (item for item in gpus if item.kind is Processor.GPU and item.architecture == "x86_64"):
        for region in ("us-east-1", "us-west-2", "eu-central-1", "ap-northeast-1", "eu-south-2"):
            if machine.type in hosted_in(region):
                assert isinstance(runner_for(machine, region), Runner), (machine.type, region)
