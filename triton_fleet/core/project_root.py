"""Where the fleet's files are: the nearest folder upwards that holds specs and environments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from triton_fleet.findings import CannotRunError

GIT = ".git"
"""The name of what Git keeps in a clone."""


def is_project_root(folder: Path) -> bool:
    """Whether a folder holds `model_specs/` and `environments/`."""
    return (folder / "model_specs").is_dir() and (folder / "environments").is_dir()


def project_roots(start: Path) -> Iterator[Path]:
    """The folders of fleets at `start` and above it, the nearest first."""
    return filter(is_project_root, (start, *start.parents))


def project_root(start: Path) -> Path:
    """The folder of the fleet, at `start` or above it.

    Raises:
        CannotRunError: there is none.
    """
    for folder in project_roots(start):
        return folder
    raise CannotRunError(
        f"no fleet at {start} or above: a fleet is a folder with model_specs/ and environments/",
        "change into the folder of a fleet, or write a new one: fleet init DIR",
    )


def git_tops(folder: Path) -> Iterator[Path]:
    """The folders at `folder` and above it that have a `.git`, links followed, the nearest first.

    The entry is a folder, or the file of a linked worktree or a submodule; Git may not accept it.
    """
    real = Path(os.path.realpath(folder))
    return (folder for folder in (real, *real.parents) if os.path.lexists(f"{folder}/{GIT}"))


def repository_top(root: Path) -> Path:
    """The folder of the Git repository around a fleet, without links; the fleet's own where there is none."""
    return next(git_tops(root), Path(os.path.realpath(root)))
