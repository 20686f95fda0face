"""The commit that a deploy is made from, and the files of its endpoints that differ from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fleet.selection.git import ignored_files, uncommitted_files
from fleet.selection.inputs import FleetInputs
from fleet.selection.paths import FleetPaths
from fleet.selection.work_tree import work_tree
from fleet.spec.project import Project

CDK_SETTINGS = "cdk.json"
"""Its `context` goes into templates."""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """What a deploy is made from.

    Attributes:
        commit: The id of HEAD; None outside of Git, and before the first commit.
        uncommitted: The files of the deployed endpoints that differ from that commit, sorted.
    """

    commit: str | None = None
    uncommitted: tuple[Path, ...] = ()


def checkout(project: Project, *, locked: bool) -> Checkout:
    """The commit of a project, and what of its endpoints differs from it.

    The files are those that `changed:` knows: specs with their layers, locks, policies and the environment's
    file; unless the deploy is `locked`, model repositories and the folders of images as well.

    Raises:
        CannotRunError: Git refuses to read the clone, as it does where it belongs to another user.
    """
    tree, file = work_tree(project.root), project.environment_source.file
    if tree is None or ignored_files(project.root, [file.relative_to(project.root).as_posix()]):
        return Checkout()  # an ignored fleet is of no commit, whatever clone is around it
    commit, files = uncommitted_files(tree)
    inputs = FleetInputs(project, locked=locked)
    paths = FleetPaths(
        project.fleet,
        project.environment.environment,
        endpoints_of=inputs.endpoints_of,
        tree=tree.top,
        drafts=False,
    )
    shared = {Path(os.path.realpath(each)) for each in (file, project.root / CDK_SETTINGS)}
    chosen = {*project.endpoints}
    read = (each for each in files if each in shared or not chosen.isdisjoint(paths.of_file(each).endpoints))
    return Checkout(commit=commit, uncommitted=tuple(read))
