"""The stand-in of docker answers for images and containers as docker does, with its exit codes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from docker_calls import TAG, TRITON, DockerCalls
from fleet_emulator.stand_ins import folders
from fleet_emulator.stand_ins.docker.store import STORE
from fleet_emulator.stand_ins.engines.calls import CALLS
from fleet_folder import ROOT


@pytest.fixture
def docker(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> DockerCalls:
    calls = DockerCalls(tmp_path, capsysbinary)
    calls.context.mkdir()
    return calls


def test_a_container_is_exported_and_removed(docker: DockerCalls) -> None:
    docker.write({"a": "content"})
    docker.build("FROM scratch\nCOPY --chmod=750 a /srv/a\n")
    assert docker.call("create", TAG) == 0
    id = docker.out.decode().strip()
    assert docker.call("export", id) == 0
    with tarfile.open(fileobj=io.BytesIO(docker.out)) as tar:
        assert [(each.name, oct(each.mode)) for each in tar] == [("srv", "0o755"), ("srv/a", "0o750")]
    assert docker.call("rm", id) == 0
    assert docker.call("export", id) == 1
    assert "No such container" in docker.err


def test_an_image_is_found_by_its_id_and_by_another_tag(docker: DockerCalls) -> None:
    shown = docker.build("FROM scratch\nLABEL a=1\n")
    assert docker.call("tag", TAG, "other:2") == 0
    for name in ("other:2", shown["Id"], shown["Id"][7:19]):
        assert docker.inspect(name)["RepoTags"] == [TAG, "other:2"]
    for template, value in {
        "{{.Id}}": shown["Id"],
        "{{index .RepoTags 0}}": TAG,
        '{{index .Config.Labels "a"}}': "1",
        "{{json .Config.Labels}} x": '{"a": "1"} x',
    }.items():
        assert docker.call("inspect", TAG, "-f", template) == 0
        assert docker.out.decode() == f"{value}\n"
    assert docker.call("image", "inspect", TAG, "--format", "{{range .}}{{end}}") == 1
    assert docker.call("image", "inspect", TAG, "--format", "{{.Nothing}}") == 1


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (125, ["build", "--privileged", "."]),
        (125, ["build"]),
        (125, ["run", "--entrypoint", "python3", TRITON, "-c", "1"]),
        (125, ["run", "--entrypoint", "find", TRITON, "/", "-delete"]),
        (125, ["run", TRITON, "serve"]),
        (1, ["run", "--entrypoint", "cat", TRITON, "/absent"]),
        (1, ["run", "--entrypoint", "cat", TRITON, "/usr"]),
        (1, ["build", "--platform", "linux/arm64", "."]),
        (1, ["build", "/absent/folder"]),
        (1, ["image", "inspect", "absent"]),
        (1, ["image", "rm", "absent"]),
        (1, ["tag", "absent", "other"]),
        (1, ["login", "--username", "AWS", "--password-stdin", "registry"]),
        (1, ["login", "--username", "AWS", "registry"]),
        (1, ["buildx"]),
        (0, ["run", "--entrypoint", "/bin/ls", TRITON, "/opt/tritonserver"]),
        (0, ["version", "--format", "{{.Server.Version}}"]),
        (0, ["info"]),
    ],
)
def test_exit_codes_are_those_of_docker(docker: DockerCalls, code: int, arguments: list[str]) -> None:
    assert docker.call(*arguments) == code
    assert bool(docker.err) == (code != 0) or "nothing runs" in docker.err


def test_an_image_without_a_tag_is_found_by_the_id_in_a_file(docker: DockerCalls) -> None:
    docker.write({"Dockerfile": "FROM scratch\nLABEL a=1\n"})
    file = docker.folder / "id"
    assert docker.call("buildx", "build", "--iidfile", str(file), "--quiet", str(docker.context)) == 0
    assert docker.out.decode() == f"{file.read_text()}\n"
    assert docker.inspect(file.read_text())["RepoTags"] == []


def test_the_command_is_a_program_whose_calls_are_recorded(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        STORE: str(tmp_path),
        CALLS: str(tmp_path / "calls"),
    }
    command = [sys.executable, str(folders.DOCKER / "docker"), "version", "--format", "{{.Client.Version}}"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "0.0.0-stand-in\n"
    assert json.loads((tmp_path / "calls").read_text()) == ["docker", *command[2:]]
    assert os.access(command[1], os.X_OK)


def test_a_login_takes_the_token_from_stdin_and_keeps_it_nowhere(docker: DockerCalls) -> None:
    assert (
        docker.call("login", "--username", "AWS", "--password-stdin", "r.example", stdin="the-token\n") == 0
    )
    kept = [file for file in (docker.folder / "store").rglob("*") if file.is_file()]
    assert kept
    assert not any(b"the-token" in file.read_bytes() for file in kept)
