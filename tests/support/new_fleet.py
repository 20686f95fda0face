"""New fleets, as `fleet init` writes them with a wheel of this version."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from typer.testing import CliRunner, Result

from fleet.cli.commands import app
from wheels import empty_wheel


def fleet_init(*arguments: str) -> Result:
    """`fleet init` as the wheel of this version runs it; the Python of the tests has it from a folder."""
    with TemporaryDirectory() as name:
        wheel = str(empty_wheel(Path(name)))
        return CliRunner().invoke(app, ["init", "--wheel", wheel, *arguments], catch_exceptions=False)


def init(folder: Path, *options: str) -> Result:
    return fleet_init(str(folder), *options)


def files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
