"""Builds of images in the embedded AWS: docker is a stand-in there, and only privileged builds have it."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.builds import IMAGE, Builds, commands, zip_files
from tests.support.container_images import DOCKER
from tests.support.embedded_app.clients import client

REGISTRY = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
BUILD = "docker build --platform linux/amd64 --output type=docker --provenance=false"
DOCKERFILE = "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\nCOPY model.py /srv/\nRUN pip install numpy==1.26.4\n"


@pytest.fixture(scope="module")
def builds(aws: EmbeddedAws) -> Builds:
    return Builds(aws)


def environment(*, is_privileged: bool) -> dict[str, Any]:
    return {
        "Type": "LINUX_CONTAINER",
        "ComputeType": "BUILD_GENERAL1_SMALL",
        "Image": "aws/codebuild/standard:7.0",
        "PrivilegedMode": is_privileged,
        "EnvironmentVariables": [{"Name": "BASE", "Value": IMAGE}],
    }


def test_a_privileged_build_pushes_an_image_that_the_registry_describes(
    builds: Builds, aws: EmbeddedAws
) -> None:
    ecr = client(aws, "ecr")
    ecr.create_repository(repositoryName="detector")
    name = f"{REGISTRY}/detector:1"
    project = builds.project(
        "images",
        commands(
            f"echo token | docker login --username AWS --password-stdin {REGISTRY}",
            f"{BUILD} --build-arg TRITON_IMAGE=$BASE --tag {name} .",
            f"docker push {name}",
        ),
        Environment=environment(is_privileged=True),
    )
    source = builds.source("image.zip", zip_files({"Dockerfile": DOCKERFILE, "model.py": "x = 1\n"}))
    override = {"sourceTypeOverride": "S3", "sourceLocationOverride": source}
    spec = builds.api.batch_get_projects(names=[project])["projects"][0]["source"]["buildspec"]
    build = builds.final_build(builds.start(project, buildspecOverride=spec, **override))
    lines = builds.lines(build)
    assert build["buildStatus"] == "SUCCEEDED", lines
    (image_detail,) = ecr.describe_images(repositoryName="detector")["imageDetails"]
    assert f" {image_detail['imageDigest']} " in lines[-1]
    assert image_detail["imageManifestMediaType"] == DOCKER
    assert [line for line in lines if "docker (stand-in)" not in line] == []


@pytest.mark.nightly
def test_each_build_has_images_of_its_own(builds: Builds) -> None:
    project = builds.project(
        "own",
        commands("docker image inspect own:1 || echo FROM $BASE > Dockerfile", f"{BUILD} --tag own:1 ."),
        Environment=environment(is_privileged=True),
    )
    for _ in range(2):
        lines = builds.lines(builds.final_build(builds.start(project)))
        assert any("No such image" in line for line in lines), lines
        assert lines[-1].endswith("naming to own:1")


def test_another_build_has_no_stand_in_of_docker(builds: Builds) -> None:
    project = builds.project(
        "plain",
        commands("case $(command -v docker) in */stand_ins/*) exit 1;; esac"),
        Environment=environment(is_privileged=False),
    )
    assert builds.final_build(builds.start(project))["buildStatus"] == "SUCCEEDED"
