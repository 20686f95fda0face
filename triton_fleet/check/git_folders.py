"""Folders below a fleet that Git would mistake for repositories, and whose programs it would run.

No command of ours runs them (`triton_fleet.git.work_tree`); but `git status` in such a folder does,
typed or by a prompt or an editor. Source: is_git_directory in setup.c of Git.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from triton_fleet.core.folders import GIT
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.git.work_tree import common_folder, work_tree
from triton_fleet.repository.contents import EntryKind
from triton_fleet.repository.reading.folder import folder_entries
from triton_fleet.spec.endpoint import in_s3
from triton_fleet.spec.source import OWN_FOLDERS
from triton_fleet.store.sources.spec_sources import SpecRepositories, spec_path

BARE_REPOSITORY_CODE, NESTED_REPOSITORY_CODE = "FL751", "FL752"
MAX_FOLDERS = 20_000
"""So many folders of a repository are looked into; no model has more."""
MAX_ENTRY_BYTES = 4096
"""Of a `.git` file: one line with a path."""


def input_git_findings(repositories: SpecRepositories) -> Iterator[Finding]:
    """The findings in the model repositories and the build folder of an endpoint, hidden folders included."""
    spec, folders = repositories.loaded_spec, list[Path]()
    for index, model in enumerate(spec.spec.models):
        if not in_s3(model):
            with suppress(FindingsError):  # reported where it is read
                folders.append(repositories.place(index))
    if spec.spec.image is not None and spec.spec.image.build is not None:
        with suppress(FindingsError, OSError, RuntimeError, ValueError):  # reported where it is read
            folder = spec_path(spec.source.mark(("image", "build")), spec.spec.image.build)
            folders += [folder] if folder.is_dir() else []
    for folder in folders:
        yield from _findings_below(folder, spec.source.file.parent)


def own_git_findings(root: Path) -> Iterator[Finding]:
    """The findings in a fleet's own folders, and between it and the top of its clone."""
    below_top = list(takewhile(lambda folder: not os.path.lexists(folder / GIT), (root, *root.parents)))
    in_clone = len(below_top) <= len(root.parents)
    yield from (_bare(folder) for folder in below_top[: None if in_clone else 1] if _is_bare(folder))
    for name in OWN_FOLDERS:
        if (root / name).is_dir():
            yield from _findings_below(root / name, root)


def _findings_below(folder: Path, fleet: Path) -> list[Finding]:
    """The findings in a folder; `fleet` is one of the fleet's, by which its clone is found."""
    findings, queue, count = list[Finding](), [folder], 0
    while queue and count < MAX_FOLDERS:
        place, count = queue.pop(), count + 1
        try:
            entries = folder_entries(str(place))
        except OSError:  # reported where it is read
            continue
        names = {entry.name for entry in entries}
        if "HEAD" in names and _is_bare(place):
            findings.append(_bare(place))
        if GIT in names and not _is_of_clone(place / GIT, fleet):
            message = "the folder has a .git of its own: Git runs the programs and hooks that it names"
            hint = "remove it, or make the folder a submodule: `git submodule add`"
            findings.append(
                Finding(code=NESTED_REPOSITORY_CODE, message=message, hint=hint, file=place / GIT)
            )
        folders = [entry.name for entry in entries if entry.kind is EntryKind.FOLDER]
        queue += [place / name for name in folders if name != GIT]
    return findings


def _is_bare(folder: Path) -> bool:
    if not os.path.lexists(folder / "HEAD"):
        return False
    # Git asks whether it may enter these two, and not whether they are folders: an executable file suffices.
    return (folder / "commondir").is_file() or all(
        os.access(folder / name, os.X_OK) for name in ("objects", "refs")
    )


def _bare(folder: Path) -> Finding:
    message = (
        "Git takes the folder of this file for a repository, and runs the programs that its `config` names"
    )
    hint = "rename HEAD, or the folders objects/ and refs/; or remove them"
    return Finding(code=BARE_REPOSITORY_CODE, message=message, hint=hint, file=folder / "HEAD")


def _is_of_clone(entry: Path, fleet: Path) -> bool:
    """Whether a `.git` is that of the fleet's clone, or of one of its submodules."""
    try:
        tree = work_tree(fleet)
    except CannotRunError:  # reported where Git is needed
        return False
    if tree is None:
        return False
    if entry.is_symlink() or not entry.is_file():
        return entry == tree.top / GIT
    with entry.open("rb") as file:
        target = os.fsdecode(file.read(MAX_ENTRY_BYTES)).removeprefix("gitdir:").strip()
    folder = Path(os.path.realpath(entry.parent / target))
    clones = (tree.folder, common_folder(tree.folder))  # a linked worktree has submodules of its own
    is_submodule = any(folder.is_relative_to(os.path.realpath(clone / "modules")) for clone in clones)
    return entry == tree.top / GIT or is_submodule
