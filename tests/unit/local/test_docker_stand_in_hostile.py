"""Hostile build contexts and Dockerfiles end with a message of the stand-in, and reach nothing outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docker_calls import DockerCalls


@pytest.fixture
def docker(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> DockerCalls:
    calls = DockerCalls(tmp_path, capsysbinary)
    calls.context.mkdir()
    (tmp_path / "secret").write_text("secret")
    return calls


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "../context/../secret", "/"])
def test_a_link_out_of_the_context_is_refused(docker: DockerCalls, target: str) -> None:
    (docker.context / "link").symlink_to(target)
    assert "leads out of the folder" in docker.refusal("FROM scratch\nCOPY link /x\n")


def test_a_path_out_of_the_context_begins_at_its_root(docker: DockerCalls) -> None:
    said = docker.refusal("FROM scratch\nCOPY ../secret /x\n")
    assert said.endswith('COPY: "/secret": not found')
    said = docker.refusal("FROM scratch\nCOPY /etc/passwd /x\n")
    assert said.endswith('COPY: "/etc/passwd": not found')


def test_a_pipe_is_refused_and_not_read(docker: DockerCalls) -> None:
    os.mkfifo(docker.context / "pipe")
    assert "a device, a pipe or a socket" in docker.refusal("FROM scratch\nCOPY . /x\n")


def test_links_in_a_circle_end(docker: DockerCalls) -> None:
    docker.write({"x": ""})
    (docker.context / "a").symlink_to("b")
    (docker.context / "b").symlink_to("a")
    assert docker.try_build("FROM scratch\nCOPY a /x\n") == 1
    docker.build("FROM scratch\nCOPY x /a/\n")
    assert docker.files() == ["/", "/a", "/a/x"]


def test_links_of_an_image_lead_nowhere_on_this_machine(docker: DockerCalls) -> None:
    docker.write({"links/keep": "", "x": "x"})
    (docker.context / "links/up").symlink_to("../links")
    docker.build("FROM scratch\nCOPY links /\nCOPY x /up/etc/x\n")
    assert docker.text("/links/etc/x") == "x"
    assert not (docker.folder / "links").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"FROM scratch\nLABEL a=\0\n",
        b"FROM scratch\nLABEL \xff=1\n",
        b"",
        b"\n# only a comment\n",
        b"FROM scratch\n" + b"LABEL a=1\n" * 200_000,
        b"FROM scratch\nFROBNICATE x\n",
        b"RUN x\nFROM scratch\n",
        b"FROM scratch\nENV A=" + b"${A:-" * 500 + b"\n",
        b"FROM scratch\nCOPY\n",
        b"FROM scratch\nENV A=$" + b"A" * 100_000 + b"${\n",
        b"FROM a b c d\n",
    ],
)
def test_a_dockerfile_that_cannot_be_read_fails_the_build(docker: DockerCalls, content: bytes) -> None:
    (docker.context / "Dockerfile").write_bytes(content)
    assert docker.call("build", "--tag", "x:1", str(docker.context)) == 1
    assert "Dockerfile" in docker.err
    assert "Traceback" not in docker.err


def test_a_value_that_doubles_itself_ends(docker: DockerCalls) -> None:
    doubling = "".join("ENV A=$A$A\n" for _ in range(60))
    assert "longer than" in docker.refusal(f"FROM scratch\nENV A=aaaa\n{doubling}")


def test_a_pattern_of_many_stars_ends(docker: DockerCalls) -> None:
    docker.write({"a" * 200: ""})
    docker.build(f"FROM scratch\nCOPY {'*a' * 90}*b /x/\n")
    assert docker.files() == ["/"]


def test_a_name_of_an_option_is_a_name(docker: DockerCalls) -> None:
    docker.write({"--from=x": "x"})
    docker.build('FROM scratch\nCOPY ["--from=x", "/x/"]\n')
    assert docker.files() == ["/", "/x", "/x/--from=x"]


def test_the_terminal_gets_no_control_characters_of_a_dockerfile(docker: DockerCalls) -> None:
    docker.try_build("FROM scratch\nLABEL a=\x1b[2Jx\nCOPY \x1b]0;x\x07 /\n")
    assert docker.code == 1
    assert "\x1b" not in docker.err


@pytest.mark.parametrize("name", [r"\u0000", r"\ud800", r"\n", "a" * 300])
def test_a_name_that_linux_or_tar_does_not_take_is_refused(docker: DockerCalls, name: str) -> None:
    docker.write({"x": "x"})
    assert "COPY: the path" in docker.refusal(f'FROM scratch\nCOPY ["x", "/{name}"]\n')


def test_half_a_character_in_a_command_is_kept_as_json_has_it(docker: DockerCalls) -> None:
    assert docker.build('FROM scratch\nCMD ["\\ud800"]\n')["Config"]["Cmd"] == ["\ud800"]
