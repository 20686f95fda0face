"""The stand-in of docker pushes to Amazon ECR, with the digests that ECR has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.support.container_images import DOCKER, ContainerRepository
from tests.support.docker_calls import FROM_TRITON, DockerCalls
from tests.support.embedded_keys import SESSION, VARIABLES
from tests.support.running_aws import running_aws

REGISTRY = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
NUMBERS = count()


@pytest.fixture(scope="module")
def ecr() -> Iterator[Any]:
    with running_aws() as aws:
        yield boto3.Session(**SESSION, region_name="us-east-1").client("ecr", endpoint_url=aws.url)


@pytest.fixture
def repository(ecr: Any) -> ContainerRepository:
    return ContainerRepository(ecr, f"team/detector{next(NUMBERS)}", imageTagMutability="IMMUTABLE")


@pytest.fixture
def docker(
    tmp_path: Path, ecr: Any, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> DockerCalls:
    for name, value in {**VARIABLES, "AWS_ENDPOINT_URL": ecr.meta.endpoint_url}.items():
        monkeypatch.setenv(name, value)
    calls = DockerCalls(tmp_path, capsysbinary)
    calls.context.mkdir()
    assert calls.call("login", "--username", "AWS", "--password-stdin", REGISTRY, stdin="token") == 0
    return calls


def test_the_registry_has_the_manifest_of_docker_with_what_inspect_shows(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    docker.write({"model.py": "x = 1\n"})
    name = f"{REGISTRY}/{repository.name}:1"
    values = docker.build(f"{FROM_TRITON}COPY model.py /srv/\n", tag=name)
    assert docker.call("push", name) == 0, docker.err
    (image_detail,) = repository.ecr.describe_images(repositoryName=repository.name)["imageDetails"]
    assert (image_detail["imageTags"], image_detail["imageManifestMediaType"]) == (["1"], DOCKER)
    assert image_detail["imageDigest"] in docker.err
    (image,) = repository.ecr.batch_get_image(repositoryName=repository.name, imageIds=[{"imageTag": "1"}])[
        "images"
    ]
    assert json.loads(image["imageManifest"])["config"]["digest"] == values["Id"]
    assert f"sha256:{sha256(image['imageManifest'].encode()).hexdigest()}" == image_detail["imageDigest"]


def test_layers_that_the_registry_has_are_not_uploaded_again(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    for tag, lines in (("1", ""), ("2", "LABEL two=2\n")):
        name = f"{REGISTRY}/{repository.name}:{tag}"
        docker.build(f"{FROM_TRITON}{lines}", tag=name)
        assert docker.call("push", name) == 0, docker.err
    assert (docker.err.count(": Layer already exists"), docker.err.count(": Pushed")) == (1, 1)


def test_an_immutable_tag_refuses_another_image(docker: DockerCalls, repository: ContainerRepository) -> None:
    name = f"{REGISTRY}/{repository.name}:1"
    docker.build(FROM_TRITON, tag=name)
    assert docker.call("push", name) == 0
    docker.build(f"{FROM_TRITON}LABEL a=2\n", tag=name)
    assert docker.call("push", name) == 1
    assert "ImageTagAlreadyExistsException" in docker.err


@pytest.mark.parametrize(
    ("registry", "reason"),
    [
        (REGISTRY, "'absent' does not exist"),
        ("210987654321.dkr.ecr.us-east-1.amazonaws.com", "no basic auth credentials"),
        ("docker.io", "no basic auth credentials"),
        ("registry.example.com", "Amazon ECR alone"),
    ],
)
def test_a_registry_that_refuses_fails_the_push(docker: DockerCalls, registry: str, reason: str) -> None:
    if "example" in registry:
        docker.call("login", "--username", "AWS", "--password-stdin", registry, stdin="token")
    docker.build(FROM_TRITON, tag=f"{registry}/absent:1")
    assert docker.call("push", f"{registry}/absent:1") == 1
    assert reason in docker.err


def test_without_the_embedded_aws_the_registry_cannot_be_reached(
    docker: DockerCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    docker.build(FROM_TRITON, tag=f"{REGISTRY}/own:1")
    assert docker.call("push", f"{REGISTRY}/own:1") == 1
    assert "the registry cannot be reached" in docker.err
