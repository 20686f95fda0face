"""The commit of a deploy, and the files of its endpoints that differ from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """The commit of a deploy.

    Attributes:
        commit: The id of HEAD; None outside of Git, and before the first commit.
        uncommitted: The files of the deployed endpoints that differ from that commit, sorted, each with the
            endpoints that read it.
    """

    commit: str | None = None
    uncommitted: Mapping[Path, frozenset[str]] = field(default_factory=dict)

    def differs(self, endpoint: str) -> bool:
        """Whether a file of an endpoint differs from the commit."""
        return any(endpoint in readers for readers in self.uncommitted.values())


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
    chosen = frozenset(project.endpoints)
    readers = {
        each: chosen if each in shared else chosen.intersection(paths.of_file(each).endpoints)
        for each in files
    }
    uncommitted = {file: names for file, names in readers.items() if names or file in shared}
    return Checkout(commit=commit, uncommitted=uncommitted)
