"""The commit of a deploy, and the files of its endpoints that differ from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from triton_fleet.git.files import tracked_files, uncommitted_files
from triton_fleet.git.work_tree import work_tree
from triton_fleet.project.fleet_files import CDK_SETTINGS
from triton_fleet.project.project import Project
from triton_fleet.project.spec_files import policy_files
from triton_fleet.selection.paths import FleetInputs, FleetPaths
from triton_fleet.spec.prices import PRICES
from triton_fleet.spec.source import OWN_FOLDERS


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
    file; unless the deploy is `locked`, model repositories and the folders of images as well. Ignored files
    count if they decide what runs; weights and other files of repositories do not.

    Raises:
        CannotRunError: Git refuses to read the clone, as it does where it belongs to another user.
    """
    tree, file = work_tree(project.root), project.environment_source.file
    if tree is None:
        return Checkout()
    commit, changed_paths = uncommitted_files(tree)
    tracked_paths = tracked_files(tree)
    own = [Path(os.path.realpath(project.root / folder)) for folder in OWN_FOLDERS]
    if not any(path.is_relative_to(folder) for path in (*tracked_paths, *changed_paths) for folder in own):
        return Checkout()  # an ignored fleet is of no commit, whatever clone is around it
    hidden_changes = (path for path, is_overlooked in tracked_paths.items() if is_overlooked)
    files = sorted({*changed_paths, *hidden_changes, *_deciding_files(project).difference(tracked_paths)})
    inputs = FleetInputs(project, locked=locked)
    paths = FleetPaths(
        project.fleet,
        project.environment.environment,
        endpoints_of=inputs.endpoints_of,
        tree=tree.top,
        drafts=False,
    )
    shared_files = {Path(os.path.realpath(path)) for path in (file, project.root / CDK_SETTINGS)}
    names_of_project = frozenset(project.endpoints)
    readers = {
        file: names_of_project
        if file in shared_files
        else names_of_project.intersection(paths.of_file(file).endpoints)
        for file in files
    }
    by_file = {file: names for file, names in readers.items() if names or file in shared_files}
    return Checkout(commit=commit, uncommitted=by_file)


def _deciding_files(project: Project) -> set[Path]:
    """The files that decide what endpoints run, links followed; not those of model repositories."""
    files = [project.environment_source.file, project.root / CDK_SETTINGS, project.root / PRICES]
    files += policy_files(project.root)[0]
    for name in project.endpoints:
        spec = project.specs.readable(name)
        files += [project.lock_file(name), project.spec_files[name]]
        files += [layer.source.file for layer in spec.layers] if spec else []
    return {Path(os.path.realpath(file)) for file in files if file.is_file()}
