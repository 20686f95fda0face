"""The calls that the stand-in takes: those of the build script, engine_build/image_build/docker.py."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from fleet_emulator.stand_ins.docker.output import REFUSED, DockerError
from triton_fleet.spec.image import PLATFORM


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise DockerError(f"{self.prog}: the stand-in does not take this call: {message}", code=REFUSED)


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The call, with `command` as its name.

    Raises:
        DockerError: the stand-in does not have the command, an option or a value of it.
    """
    parser = _Parser(prog="docker", add_help=False, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, *operands: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, add_help=False, allow_abbrev=False)
        for operand in operands:
            added.add_argument(operand)
        return added

    login = command("login", "registry")
    login.add_argument("--username", required=True)
    login.add_argument("--password-stdin", action="store_true", required=True)
    _declare_build(command("build", "context"))
    command("image").add_argument("action", choices=["inspect"])
    commands.choices["image"].add_argument("name")
    command("push", "name")
    command("create", "name", "program")
    command("export", "container")
    command("rm", "container")
    return parser.parse_args(arguments)


def _declare_build(build: argparse.ArgumentParser) -> None:
    build.add_argument("--tag", required=True)
    build.add_argument("--build-arg", action="append", default=[])
    # The one type of manifest that the stand-in writes is not the default of docker.
    build.add_argument("--output", choices=["type=docker"], required=True)
    build.add_argument("--provenance", choices=["false"], required=True)
    build.add_argument("--platform", choices=[PLATFORM], required=True)
    build.add_argument("--progress", choices=["plain"])
    build.add_argument("--pull", action="store_true")
