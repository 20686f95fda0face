"""The stand-in of docker pushes to Amazon ECR and pulls from it, with the digests that ECR has."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import boto3
import pytest

from container_images import DOCKER, OCI, ContainerRepository
from docker_calls import TAG, DockerCalls
from embedded_keys import SESSION, VARIABLES
from hostile_tar import END, file, folder, header
from running_aws import running_aws

REGISTRY = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
NUMBERS = count()


@pytest.fixture(scope="module")
def ecr() -> Iterator[Any]:
    with running_aws() as aws:
        yield boto3.Session(**SESSION, region_name="us-east-1").client("ecr", endpoint_url=aws.url)


@pytest.fixture
def repository(ecr: Any) -> ContainerRepository:
    return ContainerRepository(ecr, f"team/detector{next(NUMBERS)}")


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


def other_machine(docker: DockerCalls) -> DockerCalls:
    """Calls with an empty store."""
    calls = DockerCalls(docker.folder / "other", docker.capture)
    calls.context.mkdir(parents=True)
    assert calls.call("login", "--username", "AWS", "--password-stdin", REGISTRY, stdin="token") == 0
    return calls


def pushed(docker: DockerCalls, repository: ContainerRepository, tag: str, dockerfile: str) -> str:
    """Build and push; the name."""
    name = f"{REGISTRY}/{repository.name}:{tag}"
    docker.build(dockerfile, "--tag", name)
    assert docker.call("push", name) == 0, docker.err
    return name


def test_the_registry_has_the_digest_that_inspect_shows(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    docker.write({"model.py": "x = 1\n"})
    name = pushed(docker, repository, "1", "ARG TRITON_IMAGE\nFROM $TRITON_IMAGE\nCOPY model.py /srv/\n")
    assert f"{REGISTRY}/{repository.name}" in docker.out.decode()
    shown = docker.inspect(name)
    (described,) = repository.ecr.describe_images(repositoryName=repository.name)["imageDetails"]
    assert shown["RepoDigests"] == [f"{REGISTRY}/{repository.name}@{described['imageDigest']}"]
    assert described["imageTags"] == ["1"]
    (found,) = repository.ecr.batch_get_image(
        repositoryName=repository.name, imageIds=[{"imageTag": "1"}], acceptedMediaTypes=[OCI]
    )["images"]
    manifest = json.loads(found["imageManifest"])
    assert manifest["config"]["digest"] == shown["Id"]
    assert f"sha256:{sha256(found['imageManifest'].encode()).hexdigest()}" == described["imageDigest"]


def test_what_is_pulled_is_what_was_pushed(docker: DockerCalls, repository: ContainerRepository) -> None:
    docker.write({"a": "content", "b": ""})
    name = pushed(docker, repository, "1", "FROM scratch\nCOPY --chmod=700 . /srv/\nLABEL a=1\n")
    digest = docker.inspect(name)["RepoDigests"][0]
    for wanted in (name, digest):
        other = other_machine(DockerCalls(docker.folder / wanted[-3:], docker.capture))
        assert other.call("pull", wanted) == 0, other.err
        assert other.inspect(wanted)["Id"] == docker.inspect(name)["Id"]
        assert other.inspect(wanted)["RepoDigests"] == [digest]
        assert other.text("/srv/a", wanted) == "content"
        assert other.files(wanted) == docker.files(name)


def test_an_image_of_the_registry_is_a_base_and_a_source_of_copy(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    docker.write({"a": "A"})
    base = pushed(docker, repository, "base", "FROM scratch\nENV A=1\nCOPY a /base/a\n")
    other = other_machine(docker)
    other.write({"b": "B"})
    shown = other.build(f"FROM {base}\nCOPY b /b\nFROM scratch\nCOPY --from={base} /base /copied\n")
    assert other.files() == ["/", "/copied", "/copied/a"]
    shown = other.build(f"FROM {base}\nCOPY b /base/\n")
    assert (other.text("/base/a"), other.text("/base/b")) == ("A", "B")
    assert "A=1" in shown["Config"]["Env"]


@pytest.mark.parametrize(
    ("options", "media_type"),
    [((), OCI), (("--output", "type=docker"), DOCKER), (("-o", "type=docker"), DOCKER)],
)
def test_the_manifest_is_of_the_type_that_the_build_asks_for(
    docker: DockerCalls, repository: ContainerRepository, options: tuple[str, ...], media_type: str
) -> None:
    name = f"{REGISTRY}/{repository.name}:1"
    docker.build("FROM scratch\nLABEL a=1\n", "--tag", name, *options)
    assert docker.call("push", name) == 0, docker.err
    (described,) = repository.ecr.describe_images(repositoryName=repository.name)["imageDetails"]
    assert described["imageManifestMediaType"] == media_type
    assert docker.inspect(name)["RepoDigests"][0].endswith(described["imageDigest"])


def test_the_image_of_an_index_is_the_one_for_this_platform(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    config = {**CONFIG, "rootfs": {"type": "layers", "diff_ids": []}}
    ours = repository.push([], config, media_type=OCI)
    arm = repository.push([], {**config, "architecture": "arm64"}, media_type=OCI)
    repository.index({"linux/arm64": arm, "linux/amd64": ours}, tag="both")
    repository.index({"linux/arm64": arm}, tag="arm")
    assert docker.call("pull", f"{REGISTRY}/{repository.name}:both") == 0, docker.err
    assert docker.call("pull", f"{REGISTRY}/{repository.name}:arm") == 1
    assert "no match for platform linux/amd64" in docker.err


def test_layers_that_the_registry_has_are_not_uploaded_again(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    docker.write({"a": "A"})
    pushed(docker, repository, "1", "FROM scratch\nCOPY a /a\n")
    pushed(docker, repository, "2", "FROM scratch\nCOPY a /a\nLABEL two=2\n")
    assert docker.out.count(b": Layer already exists") == 1
    assert docker.out.count(b": Pushed") == 1


def test_a_tag_that_is_pushed_again_as_it_is_succeeds(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    for _ in range(2):
        pushed(docker, repository, "1", "FROM scratch\nLABEL a=1\n")


def test_an_immutable_tag_refuses_another_image(docker: DockerCalls, ecr: Any) -> None:
    repository = ContainerRepository(ecr, f"team/fixed{next(NUMBERS)}", imageTagMutability="IMMUTABLE")
    pushed(docker, repository, "1", "FROM scratch\nLABEL a=1\n")
    name = f"{REGISTRY}/{repository.name}:1"
    docker.build("FROM scratch\nLABEL a=2\n", "--tag", name)
    assert docker.call("push", name) == 1
    assert "ImageTagAlreadyExistsException" in docker.err


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{REGISTRY}/absent:1", "'absent' does not exist"),
        ("210987654321.dkr.ecr.us-east-1.amazonaws.com/own:1", "no basic auth credentials"),
        ("docker.io/library/own:1", "Amazon ECR alone, not docker.io"),
        ("own:1", "Amazon ECR alone, not Docker Hub"),
    ],
)
def test_a_registry_that_refuses_fails_the_push_and_the_pull(
    docker: DockerCalls, name: str, reason: str
) -> None:
    docker.build("FROM scratch\nLABEL a=1\n", "--tag", name)
    assert docker.call("push", name) == 1
    assert reason in docker.err
    other = other_machine(docker)
    assert other.call("pull", name) == 1
    assert reason in other.err


def test_after_a_logout_nothing_is_pushed(docker: DockerCalls, repository: ContainerRepository) -> None:
    name = pushed(docker, repository, "1", "FROM scratch\nLABEL a=1\n")
    assert docker.call("logout", REGISTRY) == 0
    assert docker.call("push", name) == 1


def test_an_image_that_the_repository_does_not_have_is_not_pulled(
    docker: DockerCalls, repository: ContainerRepository
) -> None:
    assert docker.call("pull", f"{REGISTRY}/{repository.name}:absent") == 1
    assert "manifest unknown" in docker.err


CONFIG: Mapping[str, Any] = {"architecture": "amd64", "os": "linux", "config": {}}


def push_layer(repository: ContainerRepository, tar: bytes, **changes: Any) -> str:
    """Push an image of one layer; its name."""
    diff_id = f"sha256:{sha256(tar).hexdigest()}"
    config = {**CONFIG, "rootfs": {"type": "layers", "diff_ids": [diff_id]}, **changes}
    repository.push([gzip.compress(tar)], config, tag="1", media_type=OCI)
    return f"{REGISTRY}/{repository.name}:1"


def test_whiteouts_of_a_layer_are_followed(docker: DockerCalls, repository: ContainerRepository) -> None:
    layers = [
        file("a/keep") + file("a/gone") + file("b/one") + file("c") + END,
        file("a/.wh.gone") + file("b/.wh..wh..opq") + file("b/two") + file(".wh.c") + END,
    ]
    diff_ids = [f"sha256:{sha256(each).hexdigest()}" for each in layers]
    config = {**CONFIG, "rootfs": {"type": "layers", "diff_ids": diff_ids}}
    repository.push([gzip.compress(each) for each in layers], config, tag="1", media_type=OCI)
    name = f"{REGISTRY}/{repository.name}:1"
    assert docker.call("pull", name) == 0, docker.err
    assert docker.files(name) == ["/", "/a", "/a/keep", "/b", "/b/two"]


@pytest.mark.parametrize(
    ("tar", "reason"),
    [
        (file("../../outside") + END, "leads out of its folder"),
        (file("a\nb") + END, "control characters"),
        (b"no tar at all" * 100, "tar stream"),
        (b"", "empty"),
        (file("x")[:300], "tar stream"),
    ],
)
def test_a_hostile_layer_is_refused(
    docker: DockerCalls, repository: ContainerRepository, tar: bytes, reason: str
) -> None:
    name = push_layer(repository, tar)
    assert docker.call("run", "--entrypoint", "find", name) == 1
    assert reason in docker.err
    assert "Traceback" not in docker.err
    assert not (docker.folder.parent / "outside").exists()


def test_links_of_a_layer_stay_in_the_image(docker: DockerCalls, repository: ContainerRepository) -> None:
    name = push_layer(
        repository, header("up", kind=tarfile.SYMTYPE, link="../../../../etc") + folder("etc/") + END
    )
    docker.write({"a": "A"})
    docker.build(f"FROM {name}\nCOPY a /up/passwd\n")
    assert docker.text("/etc/passwd") == "A"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"architecture": "arm64"}, "no match for platform linux/amd64: it is linux/arm64"),
        ({"rootfs": {"type": "layers", "diff_ids": [f"sha256:{'0' * 64}"]}}, "is not the one"),
        ({"rootfs": {}}, "names no layers"),
        ({"rootfs": []}, "names no layers"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(
    docker: DockerCalls, repository: ContainerRepository, changes: Mapping[str, Any], reason: str
) -> None:
    name = push_layer(repository, file("a") + END, **changes)
    assert docker.call("pull", name) == 1
    assert reason in docker.err


def test_without_the_embedded_aws_the_registry_cannot_be_reached(
    docker: DockerCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    docker.build("FROM scratch\nLABEL a=1\n", "--tag", f"{REGISTRY}/own:1")
    assert docker.call("push", f"{REGISTRY}/own:1") == 1
    assert "the registry cannot be reached" in docker.err
    assert docker.call("push", TAG) == 1
