"""Hostile build contexts and Dockerfiles end with a message of the stand-in, and reach nothing outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.docker_calls import BUILD, FROM_TRITON, DockerCalls


@pytest.fixture
def docker(docker: DockerCalls, tmp_path: Path) -> DockerCalls:
    (tmp_path / "secret").write_text("secret")
    return docker


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "../context/../secret", "/"])
def test_a_link_out_of_the_context_is_refused(docker: DockerCalls, target: str) -> None:
    (docker.context / "link").symlink_to(target)
    assert "leads out of the folder" in docker.refusal(f"{FROM_TRITON}COPY link /x\n")


def test_a_path_out_of_the_context_begins_at_its_root(docker: DockerCalls) -> None:
    for source in ("../secret", "/secret"):
        text = docker.refusal(f"{FROM_TRITON}COPY {source} /x\n")
        assert text.endswith('COPY: "/secret": not found')


def test_a_pipe_is_refused_and_not_read(docker: DockerCalls) -> None:
    os.mkfifo(docker.context / "pipe")
    assert "a device, a pipe or a socket" in docker.refusal(f"{FROM_TRITON}COPY . /x\n")


@pytest.mark.parametrize(
    "content",
    [
        b"FROM scratch\nLABEL \xff=1\n",
        b"",
        b"FROM scratch\nFROBNICATE x\n",
        b"RUN x\nFROM scratch\n",
        b"FROM a b c d\n",
    ],
)
def test_a_dockerfile_that_cannot_be_read_fails_the_build(docker: DockerCalls, content: bytes) -> None:
    (docker.context / "Dockerfile").write_bytes(content)
    assert docker.call(*BUILD, "--tag", "x:1", str(docker.context)) == 1
    assert "Dockerfile" in docker.err


def test_a_value_that_doubles_itself_ends(docker: DockerCalls) -> None:
    text = "".join("ENV A=$A$A\n" for _ in range(60))
    assert "'$A$A' cannot be resolved" in docker.refusal(f"{FROM_TRITON}ENV A=aaaa\n{text}")


def test_the_terminal_gets_no_control_characters_of_a_dockerfile(docker: DockerCalls) -> None:
    docker.try_build(f"{FROM_TRITON}LABEL a=\x1b[2Jx\nCOPY \x1b]0;x\x07 /\n")
    assert docker.code == 1
    assert "\x1b" not in docker.err


@pytest.mark.parametrize("name", [r"\u0000", r"\ud800", r"\n", "a" * 300])
def test_a_name_that_linux_or_tar_does_not_take_is_refused(docker: DockerCalls, name: str) -> None:
    docker.write({"x": "x"})
    assert "COPY: the path" in docker.refusal(f'{FROM_TRITON}COPY ["x", "/{name}"]\n')


def test_half_a_character_in_a_command_is_kept_as_json_has_it(docker: DockerCalls) -> None:
    assert docker.build(f'{FROM_TRITON}CMD ["\\ud800"]\n')["Config"]["Cmd"] == ["\ud800"]
