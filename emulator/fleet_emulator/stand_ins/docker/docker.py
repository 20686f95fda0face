"""The stand-in's commands, with docker's exit codes."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from fleet_emulator.stand_ins.docker.arguments import read_arguments
from fleet_emulator.stand_ins.docker.build import build_image
from fleet_emulator.stand_ins.docker.image import encode
from fleet_emulator.stand_ins.docker.output import FAILED, DockerError, data, report
from fleet_emulator.stand_ins.docker.registry import push_image
from fleet_emulator.stand_ins.docker.store import STORE, ImageStore
from triton_fleet.spec.image_name import ImageName, image_name


def run() -> None:
    """Answer as a process."""
    sys.exit(Docker(os.environ, sys.stdin).answer(sys.argv[1:]))


class Docker:
    """The stand-in with an environment, which names its store, and stdin, which has the token of a login."""

    def __init__(self, environ: Mapping[str, str], stdin: IO[str]) -> None:
        self._environ, self._stdin = environ, stdin

    def answer(self, arguments: Sequence[str]) -> int:
        """Carry a call out; its exit code."""
        try:
            call = read_arguments(arguments)
            folder = self._environ.get(STORE, "")
            if not folder:
                raise DockerError(f"the variable {STORE} names no folder for images")
            self._store = ImageStore(Path(folder))
            getattr(self, f"_{call.command}")(call)
        except DockerError as error:
            for line in error.args:
                report(f"ERROR: {line}")
            return error.code
        except OSError as error:
            report(f"ERROR: {error}")
            return FAILED
        return 0

    def _login(self, call: argparse.Namespace) -> None:
        if not self._stdin.read().strip():
            raise DockerError("the token on stdin is empty")
        self._store.log_in(call.registry)
        report("Login Succeeded; the stand-in does not verify the token")

    def _build(self, call: argparse.Namespace) -> None:
        name = _image_name(call.tag)
        image = self._store.add_image(str(name), *build_image(call))
        report(f"writing image {image.id}, of which no command was run")
        report(f"naming to {name}")

    def _image(self, call: argparse.Namespace) -> None:
        data(f"[{encode(self._store.image(call.name).inspection()).decode()}]")

    def _push(self, call: argparse.Namespace) -> None:
        name, image = _image_name(call.name), self._store.image(call.name)
        if not self._store.is_logged_in(name.registry):
            raise DockerError(f"{name.place}: no basic auth credentials; run docker login first")
        report(f"{name.tag}: digest: {push_image(image, name)} size: {len(image.manifest)}")

    def _create(self, call: argparse.Namespace) -> None:
        data(self._store.add_container(call.name))

    def _export(self, call: argparse.Namespace) -> None:
        with self._store.container(call.container).tar.open("rb") as tar:
            shutil.copyfileobj(tar, sys.stdout.buffer)
        sys.stdout.flush()

    def _rm(self, call: argparse.Namespace) -> None:
        self._store.remove_container(call.container)
        data(call.container)


def _image_name(text: str) -> ImageName:
    name = image_name(text)
    if name is None or not name.tag or name.digest:
        raise DockerError(f"the stand-in takes the name of an image with its tag, not {text!r}")
    return name
