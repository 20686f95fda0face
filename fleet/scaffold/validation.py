"""Whether a new fleet would be read and can be written, before any file is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fleet.endpoint.environment import own_findings
from fleet.findings import CannotRunError, FindingsError, all_of
from fleet.scaffold.files import NewFleet
from fleet.spec.environment import Environment
from fleet.spec.problems import validate
from fleet.spec.source import Mark, Source


def require_valid(folder: Path, fleet: NewFleet) -> None:
    """Check the environments that were asked for, as `fleet check` does.

    Args:
        folder: Where the fleet will be: findings name its files.
        fleet: What its owner has chosen.

    Raises:
        FindingsError: every mistake in a name, the account or the region.
    """

    def check(name: str) -> None:
        file = folder / "environments" / f"{name}.yaml"
        source = Source(file, fleet.environment(name), {(): Mark(file, 1, 1)})
        if findings := own_findings(validate(Environment, source), source):
            raise FindingsError(findings)

    all_of(fleet.environments, check)


def require_writable(folder: Path, paths: Iterable[str]) -> None:
    """See that each file can be written where it belongs.

    Raises:
        CannotRunError: a file is in the place of a folder, or a folder in the place of a file.
    """
    for path in paths:
        file = folder / path
        if file.is_dir():
            raise CannotRunError(f"{file} is a folder, but a file has to be written there", "move the folder")
        for parent in (folder, *(folder / each for each in Path(path).parents)):
            if parent.exists() and not parent.is_dir():
                raise CannotRunError(
                    f"{parent} is a file, but a folder has to be created there", "move the file"
                )
