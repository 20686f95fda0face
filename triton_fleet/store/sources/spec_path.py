"""The paths that a spec names lead to what is reviewed with it: its Git work tree, else its fleet."""

from __future__ import annotations

import os
from pathlib import Path

from triton_fleet.builds.images.context import PRIVATE_NAMES
from triton_fleet.core.project_root import git_tops, project_roots
from triton_fleet.findings import FindingsError
from triton_fleet.spec.source import Mark, finding_at

OUTSIDE = "FL471"


def spec_path(mark: Mark, name: str) -> Path:
    """Where a path leads from the file that names it, links followed; it need not exist.

    A spec that is in no work tree and no fleet, such as a draft, may name any path.

    Raises:
        FindingsError: it leads out of the tree, or into what Git or this product keeps for itself.
        OSError: a name is too long.
        RuntimeError: links lead in a circle.
    """
    folder = mark.file.parent
    real, tree = (folder / name).resolve(), reviewed_tree(folder)
    if tree is None:
        return real
    if not real.is_relative_to(tree):
        problem, hint = f"outside of {tree}", "move it there"
    elif own := PRIVATE_NAMES.intersection(real.relative_to(tree).parts):
        problem, hint = f"into {min(own)}, which no commit holds", "name a folder that is in the repository"
    else:
        return real
    message = f"{name} leads to {real}, {problem}: that place changes without a review"
    raise FindingsError([finding_at(mark, OUTSIDE, message, f"{hint}: a spec cannot `allow` it")])


def reviewed_tree(folder: Path) -> Path | None:
    """The root of the Git work tree that a folder is in, else of its fleet; None if it is in neither."""
    return next(git_tops(folder), None) or fleet_root(folder)


def fleet_root(folder: Path) -> Path | None:
    """The root of the fleet that a folder is in; None if it is in none."""
    return next(project_roots(Path(os.path.realpath(folder))), None)
