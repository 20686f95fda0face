"""Calls of the stand-in for docker, with a folder for the build context and a store of their own."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.stand_ins.docker.docker import Docker
from fleet_emulator.stand_ins.docker.store import STORE

TRITON = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
FROM_TRITON = "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\n"
TAG = "detector:1"
BUILD = (
    *("build", "--progress", "plain", "--pull", "--platform", "linux/amd64"),
    *("--output", "type=docker", "--provenance=false"),
)
"""As engine_build/image_build/docker.py calls it."""


@dataclass
class DockerCalls:
    """The last call's exit code, stdout and stderr."""

    folder: Path
    capture: pytest.CaptureFixture[bytes]
    code: int = 0
    out: bytes = b""
    err: str = ""

    @property
    def context(self) -> Path:
        return self.folder / "context"

    def write(self, files: Mapping[str, str]) -> None:
        """Write files of the build context."""
        for name, text in files.items():
            file = self.context / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def call(self, *arguments: str, stdin: str = "") -> int:
        self.capture.readouterr()
        self.code = Docker({STORE: str(self.folder / "store")}, io.StringIO(stdin)).answer(arguments)
        self.out, err = self.capture.readouterr()
        self.err = err.decode()
        return self.code

    def try_build(self, dockerfile: str, *options: str, tag: str = TAG) -> int:
        """Build an image of the context; the exit code."""
        self.write({"Dockerfile": dockerfile})
        given_options = ["--build-arg", f"TRITON_IMAGE={TRITON}", "--tag", tag, *options]
        return self.call(*BUILD, *given_options, str(self.context))

    def build(self, dockerfile: str, *options: str, tag: str = TAG) -> dict[str, Any]:
        """Build an image; what `docker image inspect` shows of it."""
        assert self.try_build(dockerfile, *options, tag=tag) == 0, self.err
        assert self.call("image", "inspect", tag) == 0, self.err
        (output,) = json.loads(self.out)
        assert isinstance(output, dict)
        return output

    def refusal(self, dockerfile: str, *options: str) -> str:
        """The last lines of a build that fails, without the name of the stand-in."""
        assert self.try_build(dockerfile, *options) == 1
        errors = [line for line in self.err.splitlines() if ": ERROR: " in line]
        return "\n".join(line.partition(": ERROR: ")[2] for line in errors)

    def files(self, folder: str = "") -> dict[str, str | None]:
        """The text of the files below a folder of the image, by path; None for folders."""
        assert self.call("create", TAG, "serve") == 0
        assert self.call("export", self.out.decode().strip()) == 0
        with tarfile.open(fileobj=io.BytesIO(self.out)) as tar:
            rows = ((item.name, tar.extractfile(item)) for item in tar)
            return {
                name: file.read().decode() if file else None
                for name, file in rows
                if name.startswith(f"{folder}/") or not folder
            }
