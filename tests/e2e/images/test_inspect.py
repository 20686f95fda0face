"""`fleet images inspect`: the facts of an image, and what to paste into a spec."""

from __future__ import annotations

import json
from itertools import count

import boto3
import pytest

from tests.support.container_images import FILES, HOST, OCI, ContainerRepository, layer
from tests.support.embedded_keys import SESSION, VARIABLES
from tests.support.fleet_folder import FleetFolder
from triton_fleet.cli.commands import app
from triton_fleet.findings import CannotRunError, FindingsError

NUMBERS = count()


@pytest.fixture
def repository(aws_url: str, monkeypatch: pytest.MonkeyPatch) -> ContainerRepository:
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_url)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    ecr = boto3.Session(**SESSION, region_name="us-east-1").client("ecr", endpoint_url=aws_url)
    return ContainerRepository(ecr, f"team/triton{next(NUMBERS)}")


def inspect(repository: ContainerRepository, *arguments: str) -> None:
    app(["images", "inspect", f"{HOST}/{repository.name}:one", *arguments], standalone_mode=False)


def test_the_facts_of_the_configuration_and_the_digest_are_shown(
    repository: ContainerRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    content = layer(FILES)
    digest = repository.push([content], tag="one")
    inspect(repository)
    output = capsys.readouterr()
    uri = f"{HOST}/{repository.name}:one"
    assert output.out.splitlines() == [
        f"{uri}, {len(content)} bytes compressed",
        "  platform: linux/amd64",
        "  manifest: application/vnd.docker.distribution.manifest.v2+json",
        "  Triton: 25.04",
        "  server: 2.57.0",
        "  CUDA: 12.9",
        "  TensorRT: 10.9.0.34",
        "  multi-model label: yes",
        "  bind-to-port label: yes",
        "  unknown: Python, backends, Python packages, starts with `serve`; pass --layers to read them from the"
        f" layers ({len(content)} bytes)",
        "",
        f"image: {{uri: {uri}, digest: {digest}}}",
    ]
    assert output.err == ""


def test_the_facts_of_the_layers_are_shown_too(
    repository: ContainerRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [
        f"usr/local/lib/python3.12/dist-packages/package{number}-1.dist-info/METADATA" for number in range(9)
    ]
    repository.push([layer([*FILES, *names])], tag="one")
    inspect(repository, "--layers")
    lines = capsys.readouterr().out.splitlines()
    assert "  backends: python" in lines
    assert "  starts with `serve`: yes" in lines
    (packages,) = (line for line in lines if line.startswith("  Python packages:"))
    assert packages.endswith("package6 1 and 2 more (--format json has all)")
    assert [line for line in lines if "unknown" in line] == []


def test_json_has_all_facts(
    repository: ContainerRepository, working_fleet: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = repository.push([layer(FILES)], tag="one", media_type=OCI)
    index = repository.index({"linux/amd64": digest}, tag="one")
    inspect(repository, "--env", "dev", "--layers", "--format", "json")
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert document["image"] == {"uri": f"{HOST}/{repository.name}:one", "digest": digest}
    assert (document["index"], document["unknown"], document["unread"]) == (index, [], None)
    assert document["facts"]["packages"] == {"numpy": "1.26.4"}
    assert "warning[unsupported-manifest] FL635" in output.err


def test_an_image_in_another_region_than_the_environment_is_refused(
    repository: ContainerRepository, working_fleet: FleetFolder
) -> None:
    working_fleet.write(
        "environments/dev.yaml", 'environment: dev\naccount: "123456789012"\nregion: eu-west-1\n'
    )
    with pytest.raises(FindingsError, match="FL637.*is in us-east-1; dev is in eu-west-1"):
        inspect(repository, "--env", "dev")


def test_a_profile_that_does_not_exist_cannot_be_used(repository: ContainerRepository) -> None:
    with pytest.raises(CannotRunError, match="nobody"):
        inspect(repository, "--profile", "nobody")
