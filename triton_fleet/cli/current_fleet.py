"""The fleet of the working directory, which a command opens once and passes on."""

from __future__ import annotations

from pathlib import Path

from triton_fleet.core.folders import project_root, project_roots
from triton_fleet.project.project import Fleet, Project


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
