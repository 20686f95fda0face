"""The stand-in of docker answers as docker does, with its exit codes, for what the build script calls."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from fleet_emulator.stand_ins import DOCKER
from fleet_emulator.stand_ins.docker.store import STORE
from tests.support.docker_calls import BUILD, FROM_TRITON, TAG, DockerCalls


def test_a_container_is_exported_and_removed(docker: DockerCalls) -> None:
    docker.write({"a": "content"})
    (docker.context / "a").chmod(0o700)
    docker.build(f"{FROM_TRITON}COPY a /srv/a\n")
    assert docker.call("create", TAG, "serve") == 0
    id = docker.out.decode().strip()
    assert docker.call("export", id) == 0
    with tarfile.open(fileobj=io.BytesIO(docker.out)) as tar:
        modes = {item.name: oct(item.mode) for item in tar}
    assert (modes["srv"], modes["srv/a"]) == ("0o755", "0o755")
    assert docker.call("rm", id) == 0
    assert docker.call("export", id) == 1
    assert "No such container" in docker.err


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (125, []),
        (125, ["run", TAG]),
        (125, ["pull", TAG]),
        (125, ["build", "."]),
        (125, [*BUILD, "--tag", TAG, "--no-cache", "."]),
        (125, [*BUILD, "--tag", TAG, "--platform", "linux/arm64", "."]),
        (125, ["build", "--platform", "linux/amd64", "--tag", TAG, "."]),
        (125, ["image", "rm", TAG]),
        (125, ["login", "--username", "AWS", "registry"]),
        (1, [*BUILD, "--tag", TAG, "--build-arg", "NAME", "."]),
        (1, [*BUILD, "--tag", "UPPER", "."]),
        (1, [*BUILD, "--tag", "no/tag", "."]),
        (1, [*BUILD, "--tag", TAG, "/absent/folder"]),
        (1, ["image", "inspect", "absent:1"]),
        (1, ["create", "absent:1", "serve"]),
        (1, ["rm", "absent"]),
        (1, ["push", "absent:1"]),
        (1, ["login", "--username", "AWS", "--password-stdin", "registry"]),
    ],
)
def test_another_call_is_refused(docker: DockerCalls, code: int, arguments: list[str]) -> None:
    assert docker.call(*arguments) == code
    assert docker.err.startswith("docker (stand-in): ERROR: ")


def test_the_command_is_a_program(tmp_path: Path) -> None:
    command = DOCKER / "docker"
    login = [sys.executable, str(command), "login", "--username", "AWS", "--password-stdin", "r.example"]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), STORE: str(tmp_path)}
    process = subprocess.run(
        login, env=environ, input="the-token\n", capture_output=True, text=True, check=True
    )
    assert "Login Succeeded" in process.stderr
    assert os.access(command, os.X_OK)
    kept_files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert kept_files
    assert not any(b"the-token" in file.read_bytes() for file in kept_files)
