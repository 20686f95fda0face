"""The stand-in of docker assembles images of Dockerfiles on a release's image, and runs no command of them."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from tests.support.docker_calls import FROM_TRITON, TRITON, DockerCalls
from triton_fleet.builds.images.facts import facts_of_config, facts_of_paths, merge
from triton_fleet.catalog.images import release, releases


def test_an_image_has_the_files_and_the_settings_of_its_dockerfile(docker: DockerCalls) -> None:
    docker.write({"model.py": "x = 1\n", "lib/a.py": "a\n", "lib/deep/b.py": "b\n"})
    values = docker.build(
        f"""\
ARG GREETING=hello
{FROM_TRITON}ARG GREETING
ARG WHO=me
ENV FIRST=1 SECOND="two of $WHO, $GREETING"
WORKDIR /opt/app
WORKDIR models
COPY lib .
COPY model.py lib/a.py /srv/
LABEL team="a b" "other"=$FIRST
USER 1000:1000
CMD echo $FIRST
ENTRYPOINT ["/usr/bin/run.sh", "serve"]
""",
        *("--build-arg", "WHO=us"),
    )
    assert docker.files("opt/app") == {
        "opt/app/models": None,
        "opt/app/models/a.py": "a\n",
        "opt/app/models/deep": None,
        "opt/app/models/deep/b.py": "b\n",
    }
    assert docker.files("srv") == {"srv/a.py": "a\n", "srv/model.py": "x = 1\n"}
    config = values["Config"]
    assert config["Env"][-2:] == ["FIRST=1", "SECOND=two of us, hello"]
    assert (config["WorkingDir"], config["User"]) == ("/opt/app/models", "1000:1000")
    assert (config["Labels"]["team"], config["Labels"]["other"]) == ("a b", "1")
    assert config["Cmd"] == ["/bin/sh", "-c", "echo $FIRST"]
    assert config["Entrypoint"] == ["/usr/bin/run.sh", "serve"]
    assert (values["Os"], values["Architecture"], values["Author"]) == ("linux", "amd64", "docker (stand-in)")


@pytest.mark.parametrize("name", releases())
def test_the_image_of_a_release_has_the_facts_that_the_catalog_has(docker: DockerCalls, name: str) -> None:
    values, known_release = docker.build(f"FROM {TRITON.replace('25.04', name)}\n"), release(name)
    config = {"os": values["Os"], "architecture": values["Architecture"], "config": values["Config"]}
    facts = merge(facts_of_config(config), facts_of_paths([docker.files()]))
    assert (facts.triton, facts.server, facts.tensorrt) == (
        name,
        known_release.server,
        known_release.tensorrt,
    )
    assert (facts.python, facts.multi_model, facts.binds_to_port) == (known_release.python, True, True)
    assert facts.cuda == ".".join(known_release.cuda.split(".")[:2])
    assert facts.serve
    assert {"python", "onnxruntime", "tensorrt"} <= set(facts.backends or ())


@pytest.mark.parametrize(
    "name",
    [
        f"{TRITON}@sha256:{'0' * 64}",
        "nvcr.io/nvidia/tritonserver:25.04-py3",
        "442386744353.dkr.ecr.cn-north-1.amazonaws.com.cn/sagemaker-tritonserver:25.04-py3-cpu",
    ],
)
def test_images_of_a_release_are_bases(docker: DockerCalls, name: str) -> None:
    values = docker.build(f"FROM {name}\nCMD serve\n")
    assert "NVIDIA_TRITON_SERVER_VERSION=25.04" in values["Config"]["Env"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nvcr.io/nvidia/tritonserver:19.01-py3", "no facts of release 19.01"),
        ("nvcr.io/nvidia/tritonserver:25.04-vllm-python-py3", "the images of Triton's releases"),
        ("123456789012.dkr.ecr.us-east-1.amazonaws.com/own:25.04-py3", "the images of Triton's releases"),
        ("python:3.12", "the images of Triton's releases"),
        ("scratch", "the images of Triton's releases"),
        ("$UNSET", "the images of Triton's releases"),
        (f"--platform=linux/amd64 {TRITON}", "does not have flags"),
        (f"{TRITON} AS one\nFROM {TRITON}", ":3: FROM: the stand-in has one stage"),
    ],
)
def test_another_base_is_refused_at_its_line(docker: DockerCalls, name: str, reason: str) -> None:
    text = docker.refusal(f"# a comment\nFROM {name}\n")
    assert reason in text
    assert text.startswith(f"{docker.context / 'Dockerfile'}:{3 if 'stage' in reason else 2}: FROM: ")


def test_no_command_is_run_and_pinned_packages_are_listed(docker: DockerCalls) -> None:
    docker.build(
        f"""{FROM_TRITON}RUN touch {docker.folder}/ran && pip install --no-cache-dir -i https://x/ 'opencv-python==4.10.0'
RUN ["python3", "-m", "pip", "install", "pillow[x]==11.0"]
RUN echo scipy==1.0 && pip install scipy; echo numpy==1.0 'unclosed
RUN pip install -r requirements.txt && apt-get update
"""
    )
    files = docker.files()
    assert not (docker.folder / "ran").exists()
    assert facts_of_paths([files]).packages == {"opencv-python": "4.10.0", "pillow": "11.0"}
    assert files["usr/local/lib/python3.12/dist-packages/pillow-11.0.dist-info/METADATA"] == ""


def test_every_line_names_the_stand_in(docker: DockerCalls) -> None:
    assert docker.try_build(f"{FROM_TRITON}RUN apt-get update\nRUN pip install a==1\n") == 0
    lines = docker.err.splitlines()
    assert docker.err.count("not run: nothing that this command would do is in the image") == 2
    assert "the image lists this package, without its content: a 1" in docker.err
    docker.refusal(f"{FROM_TRITON}VOLUME /x\n")
    lines += docker.err.splitlines()
    for arguments in (["login", "x"], ["pull", TRITON], ["push", "a:1"], ["frob"], []):
        docker.call(*arguments)
        lines += docker.err.splitlines() + docker.out.decode().splitlines()
    assert len(lines) > 15
    assert [line for line in lines if "stand-in" not in line] == []


def test_the_same_files_are_the_same_image_in_each_store(
    docker: DockerCalls, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other_calls = DockerCalls(tmp_path_factory.mktemp("other"), docker.capture)
    ids = []
    for calls, seconds in ((docker, 0), (other_calls, 10**9)):
        calls.write({"z": "z", "a/b": "b"})
        os.utime(calls.context / "z", (seconds, seconds))
        ids.append(calls.build(f"{FROM_TRITON}COPY . /srv\n")["Id"])
    assert ids[0] == ids[1]
    docker.write({"z": "y"})
    assert docker.build(f"{FROM_TRITON}COPY . /srv\n")["Id"] != ids[0]


def test_what_dockerignore_excludes_is_not_in_the_image(docker: DockerCalls) -> None:
    docker.write({".dockerignore": "**/*.key\n!keep.key\n", "a/x.key": "", "keep.key": "", "a/b": ""})
    docker.build(f"{FROM_TRITON}COPY . /all/\n")
    assert list(docker.files("all")) == [
        *("all/.dockerignore", "all/Dockerfile", "all/a", "all/a/b", "all/keep.key")
    ]
    assert docker.refusal(f"{FROM_TRITON}COPY a/x.key /\n").endswith(':3: COPY: "/a/x.key": not found')


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("ADD a /a", "does not have this instruction"),
        ("EXPOSE 80", "does not have this instruction"),
        ("HEALTHCHECK NONE", "does not have this instruction"),
        ("ONBUILD RUN x", "does not have this instruction"),
        ('SHELL ["bash"]', "does not have this instruction"),
        ("VOLUME /data", "does not have this instruction"),
        ("COPY --chmod=755 a /a", "does not have flags"),
        ("COPY --from=none a /a", "does not have flags"),
        ("COPY <<EOF /a\nx\nEOF", "here-document"),
        ("RUN --mount=type=cache,target=/x y", "does not have flags"),
        ("COPY a", "at least a source and a destination"),
        ("COPY a b /c", "has to end with '/'"),
        ("COPY a* /c/", "does not have patterns"),
        ("COPY absent /c", '"/absent": not found'),
        ("COPY link /c", "does not copy links, as 'link'"),
        ("COPY . /x/", "does not copy links, as 'link'"),
        ("COPY a /x\nCOPY d /x\n", "a folder cannot replace a file: /x"),
        ("COPY a /x\nCOPY a /x/y\n", "a folder cannot replace a file: /x"),
        ("COPY a /x/a/y\nCOPY a /x/", "a file cannot replace a folder: /x/a"),
        ("ENV A=${B:?no}", "cannot be resolved"),
        ("ENV PATH=/opt:$PATH", "cannot be resolved by the ARG and ENV of the Dockerfile"),
        ("ENV A=1\nARG A=2", "does not have an ARG of a variable of the image: A"),
    ],
)
def test_what_the_stand_in_does_not_have_fails_at_its_line(
    docker: DockerCalls, instruction: str, reason: str
) -> None:
    docker.write({"a": "", "b": "", "d/e": ""})
    (docker.context / "link").symlink_to("a")
    text = docker.refusal(f"{FROM_TRITON}{instruction}\n")
    assert reason in text
    line = 4 if "replace" in reason or "ARG of" in reason else 3
    assert text.startswith(f"{docker.context / 'Dockerfile'}:{line}: ")


COPIES = [
    ("COPY a.txt /x/y", ["x/y"]),
    ("COPY a.txt b.txt /x/", ["x/a.txt", "x/b.txt"]),
    ("COPY dir /x", ["x/inner", "x/inner/c.txt"]),
    ("COPY dir/ /x/", ["x/inner", "x/inner/c.txt"]),
    ("COPY ../../a.txt /x/", ["x/a.txt"]),
    ('COPY ["a b.txt", "/x/"]', ["x/a b.txt"]),
    ("WORKDIR /x\nCOPY a.txt y/", ["x/y", "x/y/a.txt"]),
    ("WORKDIR /x\nCOPY a.txt .", ["x/a.txt"]),
    ("WORKDIR /x\nCOPY a.txt /x", ["x/a.txt"]),
    ("WORKDIR /w\nCOPY a.txt ../x/y", ["x/y"]),
    ("ARG N=a\nCOPY ${N}.txt /x/$N", ["x/a"]),
    ("COPY a.txt /x/y\nCOPY b.txt /x/y", ["x/y"]),
]
FILES: Mapping[str, str] = {"a.txt": "A", "b.txt": "B", "a b.txt": "AB", "dir/inner/c.txt": "C"}


@pytest.mark.parametrize(("copy", "files"), COPIES)
def test_copy_puts_files_where_docker_does(docker: DockerCalls, copy: str, files: list[str]) -> None:
    docker.write(FILES)
    docker.build(f"{FROM_TRITON}{copy}\n")
    assert list(docker.files("x")) == files
