"""The owners of the files that a spec names: a model has one, and no file of the platform is a team's."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from triton_fleet.core.folders import PRODUCT, is_product_clone, is_project_root, repository_top
from triton_fleet.findings import Finding
from triton_fleet.project.project import LoadedSpec
from triton_fleet.project.spec_files import spec_files
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.spec.contacts import EndpointOwner
from triton_fleet.spec.endpoint import S3
from triton_fleet.spec.source import (
    FOLDER,
    POLICIES,
    PROFILES,
    SPECS,
    KeyPath,
    Mark,
    Source,
    finding_at,
    named_inputs,
)

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
    """A file or folder that a spec names, without links; `key` is where, for people.

    `is_repository` is whether it is a model repository, `is_model` whether it is one or an ONNX model: the
    owner of the spec reviews it. A link named `.onnx` to a file with another name is not one.
    """

    spec: OwnedSpec
    key: str
    value: str
    path: Path
    mark: Mark
    is_repository: bool
    is_model: bool


def named_files(spec: OwnedSpec) -> Iterator[NamedFile]:
    """The model repositories, ONNX models and the image's folder of a spec, except what is in S3."""
    for path, value in named_inputs(spec.source):
        if not value.startswith(S3):
            yield _named_file(spec, path, value)


def ownership_findings(root: Path, specs: Iterable[OwnedSpec]) -> list[Finding]:
    """The models that are the platform's (FL510), and the files that are another owner's (FL572).

    Whoever owns a spec reviews its model repositories and ONNX models. So no two owners name the same one, a
    repository that is inside another owner's or around it, or other files in it. Two owners may share a
    model if each of them lists the other in `shared_with`: neither can do it alone. Specs without an owner
    are the platform's.

    Args:
        root: The fleet.
        specs: The specs that are compared with each other.
    """
    files = [named_file for spec in specs for named_file in named_files(spec)]
    platform = PlatformFolders(root.resolve(), repository_top(root))
    findings = [finding for file in files for finding in _of_platform(file, platform)]
    return [*findings, *_conflicts_of_owners(files, platform.top)]


def owned_specs(specs: Iterable[LoadedSpec]) -> list[OwnedSpec]:
    """Specs as they hold in an environment."""
    return [OwnedSpec(spec.spec.endpoint, spec.source.file, spec.source, spec.spec.owner) for spec in specs]


def _named_file(spec: OwnedSpec, path: KeyPath, value: str) -> NamedFile:
    mark = spec.source.mark(path)
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    try:
        place = Path(os.path.realpath(mark.file.parent / value))
    except ValueError:  # a sign that no path can have
        place = Path()
    is_repository = path[-1] == "repository"
    is_model = is_repository or (path[-1] == "onnx" and place.suffix == ".onnx")
    return NamedFile(spec, key, value, place, mark, is_repository=is_repository, is_model=is_model)


def _of_platform(file: NamedFile, platform: PlatformFolders) -> Iterator[Finding]:
    if not file.is_model or file.spec.owner is None:
        return
    problem = platform.overlap(file.path, file.spec.file) if file.path.is_absolute() else "is not a path"
    if problem:
        message = (
            f"`{file.key}` is {file.value!r}, which {problem}: a CODEOWNERS file would make"
            " the owner of this spec its reviewer"
        )
        yield finding_at(file.mark, "FL510", message, _MOVE)


def _conflicts_of_owners(files: Sequence[NamedFile], top: Path) -> Iterator[Finding]:
    models = defaultdict[Path, dict[object, NamedFile]](dict)
    for file in files:
        if file.is_model and file.path.is_relative_to(top):
            owner = file.spec.owner
            models[file.path].setdefault((_contact(owner), owner and owner.shared_with), file)
    conflicts = dict[tuple[str, str], tuple[NamedFile, NamedFile]]()
    for file in files:
        for folder in (file.path, *file.path.parents):
            for model in models.get(folder, {}).values():
                if not _may_both(file, model):
                    conflicts.setdefault((file.spec.endpoint, file.key), (file, model))
                    conflicts.setdefault((model.spec.endpoint, model.key), (model, file))
    yield from (_conflict(*pair) for pair in conflicts.values())


def _may_both(file: NamedFile, repository: NamedFile) -> bool:
    first, second = file.spec.owner, repository.spec.owner
    if _contact(first) == _contact(second):
        return True
    share = first and second and second.reviewer in first.shared_with and first.reviewer in second.shared_with
    return bool(share) and (file.path == repository.path or not file.is_repository)


def _contact(owner: EndpointOwner | None) -> str:
    """The identity of an owner: the contact reviews, so the name of another team takes nothing over."""
    return "" if owner is None else owner.contact or owner.team


def _conflict(file: NamedFile, repository: NamedFile) -> Finding:
    if file.path == repository.path:
        relation = "which is"
    else:
        relation = "which is inside" if file.path.is_relative_to(repository.path) else "which contains"
    owner = repository.spec.owner
    whose = f"owner {owner.team}" if owner else "without an owner, so the platform's"
    message = (
        f"`{file.key}` is {file.value!r}, {relation} `{repository.key}` of"
        f" {repository.spec.endpoint} ({whose}):"
        " the owner of one spec would review the files of the other"
    )
    hint = "give each owner a folder of its own, or both specs one `owner`"
    if file.path == repository.path and file.spec.owner and owner and owner.reviewer:
        key = f'`owner: {{shared_with: ["{owner.reviewer}"]}}`'
        hint += f"; to share it, write {key} here, and your contact into `shared_with` of the other spec"
    return finding_at(file.mark, "FL572", message, hint)


_FOLDERS_WITH_LINKS = ("environments", POLICIES, PROFILES)
"""The folders in which a file may be a link to a file of the platform."""
PACKAGE_FOLDERS = ("node_modules", "vendor")
"""Folders of a fleet from which packages of npm and of pip are run or installed."""
_PROGRAM_SUFFIXES = (".py", ".sh", ".mk", ".js", ".whl")
_PROGRAM_NAMES = ("Makefile", "GNUmakefile", "makefile", "package.json", "requirements.txt")
_OF_REPOSITORY = (".github", ".gitlab", "CODEOWNERS", "docs/CODEOWNERS")


@dataclass(frozen=True)
class PlatformFolders:
    """The folders of the platform: of the fleet, of other fleets of the repository, of CI, of the product.

    `root` is the fleet and `top` the folder of the Git repository, both without links.
    """

    root: Path
    top: Path
    _overlaps_by_folder: dict[Path, str | None] = field(default_factory=dict, compare=False, repr=False)

    def overlap(self, folder: Path, spec: Path) -> str | None:
        """The part that a model repository has in common with the platform: "is policies/"; None for nothing.

        Args:
            folder: The model repository, without links.
            spec: The file of its spec.
        """
        if self.root.is_relative_to(folder):
            return "contains the fleet"
        if not folder.is_relative_to(self.top):
            return None
        if folder.is_relative_to(self._specs):
            return self._among_specs(folder, spec.parent.resolve())
        if folder not in self._overlaps_by_folder:
            self._overlaps_by_folder[folder] = next(self._overlaps(folder), None)
        return self._overlaps_by_folder[folder]

    def _overlaps(self, folder: Path) -> Iterator[str]:
        for program in _programs(folder):
            yield f"contains the program {program.relative_to(folder).as_posix()}"
        inner, below_top = f"{folder}/", folder.relative_to(self.top)
        for outer, name in self._own.items():
            yield from _overlap(inner, outer, name)
        for base in (self.top, self.root):
            first_part = folder.relative_to(base).parts[0] if folder.is_relative_to(base) else ""
            if first_part.startswith("."):
                yield from _overlap(inner, f"{base / first_part}/", self._relative_name(base / first_part))
        for fleet in filter(is_project_root, (folder, *folder.parents)[: len(below_top.parts) + 1]):
            if fleet != self.root:
                if fleet == folder:
                    yield f"contains the fleet {self._relative_name(fleet)}"
                for place, name in self._of_fleet(fleet):
                    yield from _overlap(inner, f"{place}/", name)
        for place in (Path(place) for place, folders, _ in os.walk(folder) if SPECS in folders):
            if is_project_root(place):
                yield f"contains the fleet {self._relative_name(place)}"

    def _among_specs(self, folder: Path, own: Path) -> str | None:
        if folder == own or not folder.is_relative_to(own):
            return f"is in {SPECS}/, but not below the folder of its spec"
        for spec_folder in sorted(self._spec_folders):
            if (
                spec_folder != own
                and spec_folder.is_relative_to(own)
                and (folder.is_relative_to(spec_folder) or spec_folder.is_relative_to(folder))
            ):
                return f"overlaps {self._relative_name(spec_folder)}/, the folder of other specs"
        return None

    @cached_property
    def _specs(self) -> Path:
        return (self.root / SPECS).resolve()

    @cached_property
    def _spec_folders(self) -> frozenset[Path]:
        """The folders in which specs are, or what holds for specs."""
        files = (*spec_files(self.root).by_endpoint.values(), *(self.root / SPECS).rglob(FOLDER))
        return frozenset(file.parent.resolve() for file in files)

    @cached_property
    def _own(self) -> dict[str, str]:
        """The platform's folders and files without links, with the names by which people know them."""
        paths = [self.top / own_name for own_name in _OF_REPOSITORY]
        if is_product_clone(self.root):
            paths += [self.root / own_name for own_name in PRODUCT]
        paths += [self.root / own_name for own_name in PACKAGE_FOLDERS]
        targets = {
            path: self._relative_name(own_name) for own_name in paths for path in _with_target(own_name)
        }
        return {f"{path}/": name for path, name in (targets | dict(self._of_fleet(self.root))).items()}

    def _of_fleet(self, fleet: Path) -> Iterator[tuple[Path, str]]:
        for name in (*_FOLDERS_WITH_LINKS, "locks", SPECS):
            folder = fleet / name
            yield from ((path, self._relative_name(folder)) for path in _with_target(folder))
            for link in folder.rglob("*") if name in _FOLDERS_WITH_LINKS else ():
                if link.is_symlink():
                    yield Path(os.path.realpath(link)), self._relative_name(link)

    def _relative_name(self, path: Path) -> str:
        return path.relative_to(self.top).as_posix()


def _programs(folder: Path) -> Iterator[Path]:
    """Programs in a folder, or below it beside the models: a repository has only folders of models."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        is_model = CONFIG in names or any(folder.isdigit() for folder in (*folders, *names))
        if is_model and place != str(folder):
            folders.clear()
        else:
            yield from (program for name in sorted(names) if _is_program(program := Path(place, name)))


def _is_program(file: Path) -> bool:
    """Whether a file is what somebody runs or installs, by its name, or by its mode if it has no suffix."""
    is_named = file.suffix in _PROGRAM_SUFFIXES or file.name in _PROGRAM_NAMES
    return is_named or (not file.suffix and os.access(file, os.X_OK))


def _overlap(inner: str, outer: str, name: str) -> Iterator[str]:
    if inner == outer:
        yield f"is {name}/"
    elif inner.startswith(outer):
        yield f"is inside {name}/"
    elif outer.startswith(inner):
        yield f"contains {name}"


def _with_target(path: Path) -> set[Path]:
    return {path, Path(os.path.realpath(path))}
