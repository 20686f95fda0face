"""The calls of docker that the stand-in has, with docker's own options, of which some change nothing here."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from fleet.spec.image import PLATFORM
from fleet_emulator.stand_ins.docker.output import REFUSED, DockerError

OUTPUT = "type=docker"
COMMANDS = (
    "build, buildx build, create, export, image inspect, info, inspect, login, logout, pull, push, rm, run,"
    " tag, version"
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise DockerError(f"{self.prog}: {message}", code=REFUSED)


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The call, with `command` as its name.

    Raises:
        DockerError: the stand-in has no such command, or it has no such option.
    """
    name = arguments[0] if arguments else ""
    if name in ("buildx", "image"):
        name, arguments = " ".join(arguments[:2]), arguments[1:]
    if name not in COMMANDS.split(", "):
        raise DockerError(f"the stand-in does not have the command {name!r}; it has {COMMANDS}")
    return _read(name.rpartition(" ")[2], arguments[1:])


def _read(name: str, arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(prog=f"docker {name}", add_help=False, allow_abbrev=False)
    parser.set_defaults(command=name)
    _declare(name, parser)
    read = parser.parse_args(arguments)
    platform = getattr(read, "platform", PLATFORM)
    if platform != PLATFORM:
        raise DockerError(f"docker {name}: the stand-in has the platform {PLATFORM} alone, not {platform}")
    return read


def _declare(name: str, parser: argparse.ArgumentParser) -> None:
    match name:
        case "version" | "info":
            parser.add_argument("-f", "--format", default="")
        case "login":
            parser.add_argument("-u", "--username", default="")
            parser.add_argument("--password-stdin", action="store_true")
            parser.add_argument("registry")
        case "logout" | "push":
            parser.add_argument("name")
        case "build":
            _declare_build(parser)
        case "inspect":
            parser.add_argument("-f", "--format", default="")
            parser.add_argument("names", nargs="+")
        case "pull":
            parser.add_argument("--platform", default=PLATFORM)
            parser.add_argument("-q", "--quiet", action="store_true")
            parser.add_argument("name")
        case "tag":
            parser.add_argument("name")
            parser.add_argument("target")
        case "create" | "run":
            _declare_run(parser)
        case "export":
            parser.add_argument("-o", "--output", default="")
            parser.add_argument("container")
        case "rm":
            parser.add_argument("-f", "--force", "-v", "--volumes", action="store_true")
            parser.add_argument("containers", nargs="+")


def _declare_build(parser: argparse.ArgumentParser) -> None:
    for flag in ("--pull", "--no-cache", "--rm"):
        parser.add_argument(flag, action="store_true")
    for option in ("--progress", "--provenance", "--sbom", "--network"):
        parser.add_argument(option)
    parser.add_argument("--platform", default=PLATFORM)
    parser.add_argument("--build-arg", action="append", default=[])
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("-t", "--tag", action="append", default=[])
    parser.add_argument("-f", "--file", default="")
    parser.add_argument("--target", default="")
    parser.add_argument("--iidfile", default="")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("-o", "--output", choices=["", OUTPUT], default="")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("context")


def _declare_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rm", action="store_true")
    parser.add_argument("--network")
    parser.add_argument("--platform", default=PLATFORM)
    parser.add_argument("--entrypoint", default="")
    parser.add_argument("name")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
