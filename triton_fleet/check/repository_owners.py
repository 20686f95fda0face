"""Whose the files are that a spec names: a model repository has one owner, and none is the platform's."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.check.platform_folders import PlatformFolders
from triton_fleet.core.project_root import repository_top
from triton_fleet.findings import Finding
from triton_fleet.project.named_inputs import named_inputs
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.contacts import EndpointOwner
from triton_fleet.spec.endpoint import S3
from triton_fleet.spec.source import KeyPath, Mark, Source, finding_at

_MOVE = "move the models to a folder that holds only model repositories, such as models/"


@dataclass(frozen=True)
class OwnedSpec:
    """A spec with its owner; `source` is merged from its layers, and `file` is its own."""

    endpoint: str
    file: Path
    source: Source
    owner: EndpointOwner | None


@dataclass(frozen=True)
class NamedFile:
    """A file or folder that a spec names, without links; `key` is where, for people."""

    spec: OwnedSpec
    key: str
    value: str
    path: Path
    mark: Mark
    is_repository: bool


def named_files(spec: OwnedSpec) -> Iterator[NamedFile]:
    """The model repositories, ONNX models and the image's folder of a spec, except what is in S3."""
    for path, value in named_inputs(spec.source):
        if not value.startswith(S3):
            yield _named_file(spec, path, value)


def ownership_findings(root: Path, specs: Iterable[OwnedSpec]) -> list[Finding]:
    """The model repositories that are the platform's (FL510), and the files that are another owner's (FL572).

    Whoever owns a spec reviews its model repositories. So no two owners name the same repository, one that
    is inside another owner's or around it, or other files in it. Two owners may share a repository if each
    of them lists the other in `shared_with`: neither can do it alone. Specs without an owner are the
    platform's.

    Args:
        root: The fleet.
        specs: The specs that are compared with each other.
    """
    named = [named_file for spec in specs for named_file in named_files(spec)]
    platform = PlatformFolders(root.resolve(), repository_top(root))
    findings = [each for file in named for each in _of_platform(file, platform)]
    return [*findings, *_of_others(named, platform.top)]


def owned_specs(loaded: Iterable[LoadedSpec]) -> list[OwnedSpec]:
    """Specs as they hold in an environment."""
    return [OwnedSpec(each.spec.endpoint, each.source.file, each.source, each.spec.owner) for each in loaded]


def _named_file(spec: OwnedSpec, path: KeyPath, value: str) -> NamedFile:
    mark = spec.source.mark(path)
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    try:
        place = Path(os.path.realpath(mark.file.parent / value))
    except ValueError:  # a sign that no path can have
        place = Path()
    return NamedFile(spec, key, value, place, mark, is_repository=path[-1] == "repository")


def _of_platform(file: NamedFile, platform: PlatformFolders) -> Iterator[Finding]:
    if not file.is_repository or file.spec.owner is None:
        return
    problem = platform.overlap(file.path, file.spec.file) if file.path.is_absolute() else "is not a path"
    if problem:
        message = (
            f"`{file.key}` is {file.value!r}, which {problem}: a CODEOWNERS file would make"
            " the owner of this spec the reviewer of that folder"
        )
        yield finding_at(file.mark, "FL510", message, _MOVE)


def _of_others(named: Sequence[NamedFile], top: Path) -> Iterator[Finding]:
    repositories = defaultdict[Path, dict[object, NamedFile]](dict)
    for file in named:
        if file.is_repository and file.path.is_relative_to(top):
            owner = file.spec.owner
            repositories[file.path].setdefault((_contact(owner), owner and owner.shared_with), file)
    conflicts = dict[tuple[str, str], tuple[NamedFile, NamedFile]]()
    for file in named:
        for folder in (file.path, *file.path.parents):
            for other in repositories.get(folder, {}).values():
                if not _may_both(file, other):
                    conflicts.setdefault((file.spec.endpoint, file.key), (file, other))
                    conflicts.setdefault((other.spec.endpoint, other.key), (other, file))
    yield from (_conflict(*pair) for pair in conflicts.values())


def _may_both(file: NamedFile, other: NamedFile) -> bool:
    one, two = file.spec.owner, other.spec.owner
    if _contact(one) == _contact(two):
        return True
    share = one and two and two.reviewer in one.shared_with and one.reviewer in two.shared_with
    return bool(share) and (file.path == other.path or not file.is_repository)


def _contact(owner: EndpointOwner | None) -> str:
    """The identity of an owner: the contact reviews, so the name of another team takes nothing over."""
    return "" if owner is None else owner.contact or owner.team


def _conflict(file: NamedFile, other: NamedFile) -> Finding:
    if file.path == other.path:
        relation = "which is"
    else:
        relation = "which is inside" if file.path.is_relative_to(other.path) else "which contains"
    owner = other.spec.owner
    whose = f"owner {owner.team}" if owner else "without an owner, so the platform's"
    message = (
        f"`{file.key}` is {file.value!r}, {relation} `{other.key}` of {other.spec.endpoint} ({whose}):"
        " the owner of one spec would review the files of the other"
    )
    hint = "give each owner a folder of its own, or both specs one `owner`"
    if file.path == other.path and file.spec.owner and owner and owner.reviewer:
        key = f'`owner: {{shared_with: ["{owner.reviewer}"]}}`'
        hint += f"; to share it, write {key} here, and your contact into `shared_with` of the other spec"
    return finding_at(file.mark, "FL572", message, hint)
