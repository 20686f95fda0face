"""Calls of the stand-in for docker, with a folder for the build context and a store of their own."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.stand_ins.docker.docker import Docker
from fleet_emulator.stand_ins.docker.store import STORE

TRITON = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
TAG = "detector:1"


@dataclass
class DockerCalls:
    """What was called last: its exit code, stdout and stderr."""

    folder: Path
    capture: pytest.CaptureFixture[bytes]
    environ: dict[str, str] = field(default_factory=dict)
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
        environ = {STORE: str(self.folder / "store"), **self.environ}
        self.capture.readouterr()
        self.code = Docker(environ, io.StringIO(stdin)).answer(arguments)
        self.out, err = self.capture.readouterr()
        self.err = err.decode()
        return self.code

    def try_build(self, dockerfile: str, *options: str) -> int:
        """Build an image of the context; the exit code."""
        self.write({"Dockerfile": dockerfile})
        arguments = ["--build-arg", f"TRITON_IMAGE={TRITON}", "--tag", TAG, *options]
        return self.call(
            "build", "--platform", "linux/amd64", "--progress", "plain", *arguments, str(self.context)
        )

    def build(self, dockerfile: str, *options: str) -> dict[str, Any]:
        """Build an image; what `docker image inspect` shows of it."""
        assert self.try_build(dockerfile, *options) == 0, self.err
        return self.inspect()

    def refusal(self, dockerfile: str, *options: str) -> str:
        """What a build that fails writes last, without the name of the stand-in."""
        assert self.try_build(dockerfile, *options) == 1
        errors = [line for line in self.err.splitlines() if ": ERROR: " in line]
        return "\n".join(line.partition(": ERROR: ")[2] for line in errors)

    def inspect(self, name: str = TAG) -> dict[str, Any]:
        assert self.call("image", "inspect", name, "--format", "{{json .}}") == 0, self.err
        shown: dict[str, Any] = json.loads(self.out)
        return shown

    def files(self, name: str = TAG, path: str = "/") -> list[str]:
        """The files and folders of an image."""
        assert self.call("run", "--rm", "--network", "none", "--entrypoint", "find", name, path) == 0, (
            self.err
        )
        return self.out.decode().splitlines()

    def text(self, path: str, name: str = TAG) -> str:
        """The content of a file of an image."""
        assert self.call("run", "--rm", "--network", "none", "--entrypoint", "cat", name, path) == 0, self.err
        return self.out.decode()
