"""What the stand-in of docker assembles is what buildah builds of the same Dockerfile, where buildah is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from docker_calls import TAG, DockerCalls

KEYS = ("Env", "Labels", "WorkingDir", "User", "ExposedPorts", "Entrypoint", "Cmd")
OWN_LABEL = "io.buildah.version"
"""The label that buildah adds."""
FILES = {
    "a.txt": "A",
    "b.txt": "B",
    "a b.txt": "AB",
    "dir/inner/c.txt": "C",
    "run.sh": "exec",
    ".dockerignore": "**/*.key\n!keep.key\n",
    "x.key": "",
    "keep.key": "",
}
DOCKERFILES = [
    "COPY a.txt /x",
    "COPY a.txt /x/",
    "COPY a.txt b.txt /x/",
    "COPY *.txt /x/",
    "COPY dir /x",
    "COPY dir/ /x/",
    "COPY d*/i* /x/",
    "COPY dir/link /x",
    "COPY . /all",
    'COPY ["a b.txt", "/x/"]',
    "COPY --chmod=750 run.sh a.txt /bin/",
    "COPY run.sh /bin/\nCOPY a.txt /bin/run.sh",
    "WORKDIR /w\nWORKDIR v\nCOPY a.txt x/\nCOPY b.txt .",
    "WORKDIR /w\nCOPY a.txt /w",
    "COPY --chmod=700 dir /x/",
    "COPY a.txt /l/x\nCOPY dir /l\nCOPY b.txt /l/inner",
    "COPY dir/link /x/link\nCOPY --from=base . /y\nCOPY --from=0 / /z",
    "ARG N=a\nCOPY ${N}.txt /x/$N",
    "ADD a.txt /x/",
    'ENV A=1 B="two words" C=$A\nENV D=${C:-no}${E:-yes}${A:+set}\nENV PATH=/opt:$PATH',
    "ENV A one and two",
    'LABEL a=1 "b c"="d e"\nLABEL a=2',
    "EXPOSE 80 90/udp\nEXPOSE 80",
    "USER 1000:1000\nUSER app",
    'ENTRYPOINT ["a", "b"]\nCMD ["c"]',
    "ENTRYPOINT exec a $B\nCMD run",
    'CMD ["kept"]\nENV A=1',
    "ARG WHO=me\nARG ALSO=$WHO\nLABEL w=$WHO a=$ALSO n=$NONE",
]


@pytest.fixture(scope="module")
def buildah() -> list[str]:
    if shutil.which("buildah") is None or os.geteuid() != 0:
        pytest.skip("buildah is not installed, or this is not root")
    return ["buildah", "--storage-driver", "vfs"]


@pytest.fixture
def docker(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> DockerCalls:
    calls = DockerCalls(tmp_path, capsysbinary)
    calls.context.mkdir()
    calls.write(FILES)
    (calls.context / "run.sh").chmod(0o755)
    (calls.context / "dir/link").symlink_to("inner/c.txt")
    return calls


def built(
    buildah: list[str], folder: Path, dockerfile: Path
) -> tuple[dict[str, Any], dict[str, tuple[str, int, bytes]]]:
    """The configuration and the files of what buildah builds."""
    store = [*buildah, "--root", str(folder / "root"), "--runroot", str(folder / "run")]
    archive = folder / "image.tar"
    build = [
        "bud",
        "--isolation",
        "chroot",
        "--squash",
        "--format",
        "docker",
        "--tag",
        TAG,
        str(dockerfile.parent),
    ]
    for command in (build, ["push", TAG, f"docker-archive:{archive}"]):
        done = subprocess.run([*store, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    with tarfile.open(archive) as outer:
        (manifest,) = json.load(outer.extractfile("manifest.json"))  # type: ignore[arg-type]
        config = json.load(outer.extractfile(manifest["Config"]))["config"]  # type: ignore[arg-type]
        files: dict[str, tuple[str, int, bytes]] = {}
        for name in manifest["Layers"]:
            files |= contents(outer.extractfile(name).read())  # type: ignore[union-attr]
    return config, files


def contents(tar: bytes) -> dict[str, tuple[str, int, bytes]]:
    """By path: target of a link, permissions and content."""
    found = {}
    with tarfile.open(fileobj=BytesIO(tar)) as members:
        for each in members:
            content = members.extractfile(each) if each.isreg() else None
            found[each.name.strip("/")] = (
                each.linkname,
                each.mode & 0o777,
                content.read() if content else b"",
            )
    return {name: value for name, value in found.items() if name}


@pytest.mark.parametrize("lines", DOCKERFILES)
def test_the_image_is_the_one_that_buildah_builds(
    buildah: list[str], docker: DockerCalls, lines: str
) -> None:
    dockerfile = f'FROM scratch AS base\nCMD ["base"]\nFROM base\n{lines}\n'
    shown = docker.build(dockerfile)["Config"]
    assert docker.call("create", TAG) == 0
    assert docker.call("export", docker.out.decode().strip()) == 0
    ours = contents(docker.out)
    config, files = built(buildah, docker.folder / "buildah", docker.context / "Dockerfile")
    (config.get("Labels") or {}).pop(OWN_LABEL, None)
    assert ours == files
    assert settings(shown) == settings(config)


def settings(config: dict[str, Any]) -> dict[str, Any]:
    """What is set; buildah moves a variable that is set again to the end, which docker does not."""
    found = {key: config[key] for key in KEYS if config.get(key)}
    return {**found, "Env": sorted(found["Env"])}
