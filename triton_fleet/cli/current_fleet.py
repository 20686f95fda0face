"""The fleet of the working directory, which a command opens once and passes on."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from triton_fleet.core.project_root import project_root, project_roots
from triton_fleet.project.project import Fleet, Project
from triton_fleet.spec.mistake import Mistake
from triton_fleet.spec.policy import parse_day


def current_fleet() -> Fleet:
    """The fleet at the working directory or above it.

    Raises:
        CannotRunError: there is none.
    """
    return Fleet(project_root(Path.cwd()))


def nearest_fleet() -> Fleet | None:
    """The same; None where there is no fleet."""
    root = next(project_roots(Path.cwd()), None)
    return Fleet(root) if root else None


def current_project(environment: str, *endpoints: str) -> Project:
    """One of its environments, with the endpoints that are named, else with all.

    Raises:
        CannotRunError: there is no fleet.
        FindingsError: as `Fleet.open`.
    """
    return current_fleet().open(environment, endpoints)


def _today(text: str) -> date:
    try:
        return parse_day(text)
    except Mistake as error:
        raise typer.BadParameter(f"{text!r}: {error}; {error.hint}") from error


Today: TypeAlias = Annotated[
    date | None,
    typer.Option(
        "--today",
        metavar="YYYY-MM-DD",
        parser=_today,
        help="Check policies as of this day, such as a later one. Default: today in UTC.",
    ),
]


def policy_day(given: date | None = None) -> date:
    """The day that was given, else today in UTC, which is the same day everywhere."""
    return given or datetime.now(UTC).date()
