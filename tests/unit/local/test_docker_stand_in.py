"""The stand-in of docker assembles real images of Dockerfiles, and runs no command of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from docker_calls import TAG, TRITON, DockerCalls
from fleet.catalog.images import release, releases
from fleet.images.facts import facts_of_config, facts_of_paths, merge

FROM_TRITON = "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\n"


@pytest.fixture
def docker(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> DockerCalls:
    calls = DockerCalls(tmp_path, capsysbinary)
    calls.context.mkdir()
    return calls


def test_an_image_of_two_stages_has_the_files_and_settings_of_the_last(docker: DockerCalls) -> None:
    docker.write({"model.py": "x = 1\n", "lib/a.py": "a\n", "lib/deep/b.py": "b\n", "run.sh": "exec\n"})
    (docker.context / "run.sh").chmod(0o700)
    shown = docker.build(
        """\
FROM scratch AS Files
COPY lib /made
COPY model.py /made/models/
FROM scratch
ARG WHO
ENV FIRST=1 SECOND="two of $WHO"
WORKDIR /opt/app
WORKDIR models
COPY --from=files /made .
COPY --chmod=755 model.py run.sh /usr/bin/
LABEL team="a b" "other"=c
USER 1000:1000
EXPOSE 8080 9000/udp
ENTRYPOINT ["/usr/bin/run.sh", "serve"]
CMD echo $FIRST
""",
        "--build-arg",
        "WHO=us",
        "--label",
        "team=x",
    )
    assert docker.files() == [
        *("/", "/opt", "/opt/app", "/opt/app/models", "/opt/app/models/a.py", "/opt/app/models/deep"),
        *("/opt/app/models/deep/b.py", "/opt/app/models/models", "/opt/app/models/models/model.py"),
        *("/usr", "/usr/bin", "/usr/bin/model.py", "/usr/bin/run.sh"),
    ]
    assert docker.text("/opt/app/models/models/model.py") == "x = 1\n"
    assert shown["Config"] == {
        "Env": [
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "FIRST=1",
            "SECOND=two of us",
        ],
        "WorkingDir": "/opt/app/models",
        "Labels": {"team": "x", "other": "c"},
        "User": "1000:1000",
        "ExposedPorts": {"8080/tcp": {}, "9000/udp": {}},
        "Entrypoint": ["/usr/bin/run.sh", "serve"],
        "Cmd": ["/bin/sh", "-c", "echo $FIRST"],
    }
    assert (shown["Os"], shown["Architecture"], shown["RepoTags"]) == ("linux", "amd64", [TAG])
    assert shown["RepoDigests"] == []


@pytest.mark.parametrize("name", releases())
def test_the_image_of_a_release_has_the_facts_that_the_catalog_has(docker: DockerCalls, name: str) -> None:
    image = TRITON.replace("25.04", name)
    assert docker.call("pull", image) == 0
    shown, known = docker.inspect(image), release(name)
    config = {"os": shown["Os"], "architecture": shown["Architecture"], "config": shown["Config"]}
    facts = merge(facts_of_config(config), facts_of_paths([docker.files(image)]))
    assert (facts.triton, facts.server, facts.tensorrt) == (name, known.server, known.tensorrt)
    assert (facts.python, facts.multi_model, facts.binds_to_port) == (known.python, True, True)
    assert facts.cuda == ".".join(known.cuda.split(".")[:2])
    assert facts.serve
    assert {"python", "onnxruntime", "tensorrt"} <= set(facts.backends or ())


@pytest.mark.parametrize(
    "name",
    [
        TRITON,
        f"{TRITON}@sha256:{'0' * 64}",
        "nvcr.io/nvidia/tritonserver:25.04-py3",
        "442386744353.dkr.ecr.cn-north-1.amazonaws.com.cn/sagemaker-tritonserver:25.04-py3-cpu",
    ],
)
def test_images_of_a_release_are_bases(docker: DockerCalls, name: str) -> None:
    shown = docker.build(f"FROM {name}\nCMD serve\n")
    assert "NVIDIA_TRITON_SERVER_VERSION=25.04" in shown["Config"]["Env"]
    assert shown["Config"]["Entrypoint"] == ["/opt/nvidia/nvidia_entrypoint.sh"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nvcr.io/nvidia/tritonserver:19.01-py3", "no facts of release 19.01"),
        ("nvcr.io/nvidia/tritonserver:25.04-vllm-python-py3", "Amazon ECR alone, not nvcr.io"),
        ("python:3.12", "Amazon ECR alone, not Docker Hub"),
        ("$UNSET", "should not be blank"),
        ("UPPER", "invalid reference format"),
        ("123456789012.dkr.ecr.us-east-1.amazonaws.com/own:1", "run docker login first"),
        ("--platform=linux/arm64 scratch", "linux/amd64 alone"),
    ],
)
def test_another_base_is_refused_at_its_line(docker: DockerCalls, name: str, reason: str) -> None:
    said = docker.refusal(f"# a comment\nFROM {name}\n")
    assert reason in said
    assert said.startswith(f"{docker.context / 'Dockerfile'}:2: FROM: ")


def test_no_command_is_run_and_pinned_packages_are_listed(docker: DockerCalls) -> None:
    docker.write({"requirements.txt": "# comment\nnumpy==1.26.4 ; python_version > '3'\nscipy\n"})
    docker.build(
        f"""{FROM_TRITON}COPY requirements.txt /tmp/
RUN touch {docker.folder}/ran && pip install --no-cache-dir -i https://x/ 'opencv-python==4.10.0' -r /tmp/requirements.txt
RUN ["python3", "-m", "pip", "install", "pillow[x]==11.0"]
RUN <<EOF
pip3 install requests==2.32.0
EOF
"""
    )
    files = docker.files()
    assert not (docker.folder / "ran").exists()
    facts = facts_of_paths([files])
    assert facts.packages == {
        "opencv-python": "4.10.0", "numpy": "1.26.4", "pillow": "11.0", "requests": "2.32.0",
    }  # fmt: skip
    assert docker.text(next(file for file in files if file.endswith("/METADATA"))) == ""


def test_the_log_of_a_build_says_what_is_not_in_the_image(docker: DockerCalls) -> None:
    assert docker.try_build(f"{FROM_TRITON}RUN apt-get update\nRUN pip install scipy a==1\n") == 0
    assert docker.err.count("not run: nothing that this command would do is in the image") == 2
    assert "the version of scipy is not known" in docker.err
    assert "without their content: a 1" in docker.err


def test_every_line_names_the_stand_in(docker: DockerCalls) -> None:
    docker.write({"a": "a"})
    docker.try_build(f"{FROM_TRITON}COPY --chown=1:1 a /a\nRUN echo\n", "--build-arg", "IDLE=1")
    lines = docker.err.splitlines()
    docker.refusal("FROM scratch\nVOLUME /x\n")
    lines += docker.err.splitlines()
    for arguments in (["info"], ["version"], ["login", "x"], ["pull", TRITON], ["push", TAG], ["frob"], []):
        docker.call(*arguments)
        lines += docker.err.splitlines() + docker.out.decode().splitlines()
    assert len(lines) > 15
    assert [line for line in lines if "stand-in" not in line] == []


def test_the_same_files_are_the_same_image_in_each_store(
    docker: DockerCalls, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = DockerCalls(tmp_path_factory.mktemp("other"), docker.capture)
    digests = []
    for calls, seconds in ((docker, 0), (other, 10**9)):
        calls.write({"z": "z", "a/b": "b"})
        os.utime(calls.context / "z", (seconds, seconds))
        digests.append(calls.build(f"{FROM_TRITON}COPY . /srv\n")["Id"])
    assert digests[0] == digests[1]
    docker.write({"z": "y"})
    assert docker.build(f"{FROM_TRITON}COPY . /srv\n")["Id"] != digests[0]


def test_what_dockerignore_excludes_is_not_in_the_image(docker: DockerCalls) -> None:
    docker.write({".dockerignore": "**/*.key\n!keep.key\n", "a/x.key": "", "keep.key": "", "a/b": ""})
    docker.build("FROM scratch\nCOPY . /all/\n")
    assert docker.files(path="/all") == [
        "/all",
        "/all/.dockerignore",
        "/all/Dockerfile",
        "/all/a",
        "/all/a/b",
        "/all/keep.key",
    ]
    assert docker.refusal("FROM scratch\nCOPY a/x.key /\n").endswith(':2: COPY: "/a/x.key": not found')


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("VOLUME /data", "does not have this instruction"),
        ("HEALTHCHECK NONE", "does not have this instruction"),
        ("ONBUILD RUN x", "does not have this instruction"),
        ('SHELL ["bash"]', "does not have this instruction"),
        ("STOPSIGNAL 9", "does not have this instruction"),
        ("MAINTAINER me", "does not have this instruction"),
        ("ADD https://example.com/a /a", "does not download https://example.com/a"),
        ("ADD git@example.com:a/b.git /a", "does not download git@"),
        ("ADD a.tar.gz /a", "is an archive, which ADD unpacks"),
        ("COPY --link a /a", "does not have the flag --link"),
        ("COPY --parents a /a", "does not have the flag --parents"),
        ("COPY --chmod=u+x a /a", "has to be octal"),
        ("COPY <<EOF /a\nx\nEOF", "does not have here-documents"),
        ("COPY --from=none a /a", "Amazon ECR alone"),
        ("COPY a", "at least a source and a destination"),
        ("COPY a b /c", "has to end with '/'"),
        ("COPY absent /c", '"/absent": not found'),
        ("COPY a /x\nCOPY . /x\n", "a folder cannot replace a file or a link: /x"),
        ("COPY a /x/a/y\nCOPY a /x/", "a file cannot replace a folder: /x/a"),
        ("RUN --security=insecure x", "does not have the flag --security"),
        ("EXPOSE 80-90", "takes one port"),
        ("ENV A=${B:?no}", "B is not set"),
    ],
)
def test_what_the_stand_in_does_not_have_fails_at_its_line(
    docker: DockerCalls, instruction: str, reason: str
) -> None:
    docker.write({"a": "", "b": "", "a.tar.gz": ""})
    said = docker.refusal(f"FROM scratch\n{instruction}\n")
    assert reason in said
    line = 3 if "replace" in reason else 2
    assert said.startswith(f"{docker.context / 'Dockerfile'}:{line}: {instruction.split()[0]}: ")


COPIES = [
    ("COPY a.txt /x", ["/x"]),
    ("COPY a.txt /x/", ["/x", "/x/a.txt"]),
    ("COPY a.txt b.txt /x/", ["/x", "/x/a.txt", "/x/b.txt"]),
    ("COPY *.txt /x/", ["/x", "/x/a b.txt", "/x/a.txt", "/x/b.txt"]),
    ("COPY [^b].txt /x/", ["/x", "/x/a.txt"]),
    ("COPY no*such /x/", []),
    ("COPY dir /x", ["/x", "/x/inner", "/x/inner/c.txt", "/x/link"]),
    ("COPY dir/ /x/", ["/x", "/x/inner", "/x/inner/c.txt", "/x/link"]),
    ("COPY d*/i* /x/", ["/x", "/x/c.txt"]),
    ("COPY dir/link /x", ["/x"]),
    ("COPY ../../a.txt /x/", ["/x", "/x/a.txt"]),
    ('COPY ["a b.txt", "/x/"]', ["/x", "/x/a b.txt"]),
    ("WORKDIR /w\nCOPY a.txt x/", ["/w", "/w/x", "/w/x/a.txt"]),
    ("WORKDIR /w\nCOPY a.txt ./", ["/w", "/w/a.txt"]),
    ("WORKDIR /w\nCOPY a.txt /w", ["/w", "/w/a.txt"]),
    ("WORKDIR /w\nCOPY a.txt ../x", ["/w", "/x"]),
    ("ARG N=a\nCOPY ${N}.txt /x/$N", ["/x", "/x/a"]),
    ("ADD a.txt /x/", ["/x", "/x/a.txt"]),
]
FILES: Mapping[str, str] = {"a.txt": "A", "b.txt": "B", "a b.txt": "AB", "dir/inner/c.txt": "C"}


@pytest.mark.parametrize(("copy", "files"), COPIES)
def test_copy_puts_files_where_docker_does(docker: DockerCalls, copy: str, files: list[str]) -> None:
    docker.write(FILES)
    (docker.context / "dir/link").symlink_to("inner/c.txt")
    docker.build(f"FROM scratch\n{copy}\n")
    assert docker.files() == ["/", *files]


def test_a_copy_follows_links_of_the_image_and_not_of_this_machine(docker: DockerCalls) -> None:
    docker.write({"lib/real/x": "x", "y": "y"})
    (docker.context / "lib/etc").symlink_to("real")
    docker.build("FROM scratch\nCOPY lib /\nCOPY y /etc/\nCOPY y /etc/../../../z\n")
    assert docker.files() == ["/", "/etc", "/real", "/real/x", "/real/y", "/z"]
    assert docker.text("/etc/y") == "y"


def test_arguments_come_from_the_call_from_the_environment_or_from_the_file(docker: DockerCalls) -> None:
    docker.environ["FROM_ENVIRONMENT"] = "e"
    shown = docker.build(
        "ARG GLOBAL=g\nFROM scratch\nARG GLOBAL\nARG GIVEN=d\nARG FROM_ENVIRONMENT\nARG OTHER=${GIVEN}o\n"
        "ENV ALL=$GLOBAL$GIVEN$FROM_ENVIRONMENT$OTHER$ABSENT GIVEN=env\nENV LAST=$GIVEN\n",
        *("--build-arg", "GIVEN=c", "--build-arg", "FROM_ENVIRONMENT", "--build-arg", "IDLE=1"),
    )
    assert shown["Config"]["Env"][1:] == ["ALL=gceco", "GIVEN=env", "LAST=env"]
    docker.try_build("FROM scratch\n", "--build-arg", "IDLE=1")
    assert "build-args ['IDLE', 'TRITON_IMAGE'] were not consumed" in docker.err


def test_a_stage_has_the_arguments_of_the_one_that_it_is_based_on(docker: DockerCalls) -> None:
    stages = "FROM scratch AS one\nARG A=1\nFROM one\nLABEL a=${A:-none}\n"
    assert docker.build(stages)["Config"]["Labels"] == {"a": "1"}
    assert docker.build(stages.replace("FROM one", "FROM scratch"))["Config"]["Labels"] == {"a": "none"}


def test_a_new_entrypoint_leaves_the_command_of_the_base_out(docker: DockerCalls) -> None:
    base = 'FROM scratch AS base\nCMD ["base"]\n'
    assert docker.build(f'{base}FROM base\nENTRYPOINT ["x"]\n')["Config"].get("Cmd") is None
    assert docker.build(f"{base}FROM base\nENV A=1\n")["Config"]["Cmd"] == ["base"]


def test_a_target_ends_the_build(docker: DockerCalls) -> None:
    stages = "FROM scratch AS one\nLABEL a=1\nFROM one AS two\nVOLUME /x\n"
    assert docker.build(stages, "--target", "one")["Config"]["Labels"] == {"a": "1"}
    assert docker.refusal(stages.replace("VOLUME", "WORKDIR"), "--target", "three") == (
        "target stage 'three' could not be found"
    )
