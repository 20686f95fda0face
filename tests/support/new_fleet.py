"""New fleets, as `fleet init` writes them with wheels of this version."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from typer.testing import CliRunner, Result

from tests.support.wheels import empty_wheels
from triton_fleet.cli.commands import app


def fleet_init(*arguments: str) -> Result:
    """`fleet init` as the wheels of this version run it; the Python of the tests has it from a folder."""
    with TemporaryDirectory() as name:
        wheels = str(empty_wheels(Path(name)))
        return CliRunner().invoke(app, ["init", "--wheels", wheels, *arguments], catch_exceptions=False)


def init(folder: Path, *options: str) -> Result:
    return fleet_init(str(folder), *options)


def files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
