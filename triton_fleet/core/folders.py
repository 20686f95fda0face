"""The folders of a fleet, of its Git repository and of the product's own files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from triton_fleet.findings import CannotRunError

_PACKAGE = Path(__file__).resolve().parents[1]
PRODUCT = (
    "triton_fleet",
    "client",
    "constructs",
    "containers",
    "emulator",
    "stacks",
    "lambda",
    "engine_build",
    "pyproject.toml",
)
"""The folders of the product where it is in the clone of a fleet, as in its own repository."""


def is_product_clone(root: Path) -> bool:
    """Whether the folder of a fleet is a clone of the product."""
    return (root / "triton_fleet/core/folders.py").is_file()


def source_path(name: str) -> Path:
    """A file or a folder of the repository: in the wheel inside of the package, in a clone beside it.

    Args:
        name: Its path in the repository, such as "lambda"; pyproject.toml lists what the wheel has.
    """
    packaged_folder = _PACKAGE / "sources"
    return (packaged_folder if packaged_folder.is_dir() else _PACKAGE.parent) / name


GIT = ".git"
"""The name of what Git keeps in a clone."""
PRIVATE_NAMES = frozenset([".fleet", ".fleet-token", GIT])
"""Names, in any folder, of a clone's history and of this product's keys and tokens."""


def is_project_root(folder: Path | str) -> bool:
    """Whether a folder holds `model_specs/` and `environments/`."""
    # Each folder above each repository is asked: a `Path` takes three times as long.
    return all(os.path.isdir(f"{folder}/{name}") for name in ("model_specs", "environments"))  # noqa: PTH112


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
    return (Path(place) for place in _upward(folder) if os.path.lexists(f"{place}/{GIT}"))


def real_project_root(folder: Path) -> Path | None:
    """The folder of the fleet that is at `folder` or above it, links followed; None if there is none."""
    return next((Path(place) for place in _upward(folder) if is_project_root(place)), None)


def _upward(folder: Path) -> Iterator[str]:
    """The folder and those above it, links followed, the nearest first."""
    place, child = os.path.realpath(folder), ""
    while place != child:
        yield place
        place, child = os.path.split(place)[0], place


def repository_top(root: Path) -> Path:
    """The folder of the Git repository around a fleet, without links; the fleet's own where there is none."""
    return next(git_tops(root), Path(os.path.realpath(root)))
