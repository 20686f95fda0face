"""What of a Git repository only the platform reviews, so that no spec gives it to its owner."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from triton_fleet.core.project_root import is_project_root
from triton_fleet.core.sources import PRODUCT, is_product_clone
from triton_fleet.project.spec_files import spec_files
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.spec.source import FOLDER, POLICIES, PROFILES, SPECS

_LINKED = ("environments", POLICIES, PROFILES)
"""The folders in which a file may be a link to a file of the platform."""
INSTALLED = ("node_modules", "vendor")
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
    _known: dict[Path, str | None] = field(default_factory=dict, compare=False, repr=False)

    def overlap(self, folder: Path, spec: Path) -> str | None:
        """What a model repository has in common with the platform: "is policies/"; None for nothing.

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
        if folder not in self._known:
            self._known[folder] = next(self._overlaps(folder), None)
        return self._known[folder]

    def _overlaps(self, folder: Path) -> Iterator[str]:
        for program in _programs(folder):
            yield f"contains the program {program.relative_to(folder).as_posix()}"
        inner, below_top = f"{folder}/", folder.relative_to(self.top)
        for outer, name in self._own.items():
            yield from _overlap(inner, outer, name)
        for base in (self.top, self.root):
            hidden = folder.relative_to(base).parts[0] if folder.is_relative_to(base) else ""
            if hidden.startswith("."):
                yield from _overlap(inner, f"{base / hidden}/", self._shown(base / hidden))
        for fleet in filter(is_project_root, (folder, *folder.parents)[: len(below_top.parts) + 1]):
            if fleet != self.root:
                if fleet == folder:
                    yield f"contains the fleet {self._shown(fleet)}"
                for place, name in self._of_fleet(fleet):
                    yield from _overlap(inner, f"{place}/", name)
        for place in (Path(place) for place, folders, _ in os.walk(folder) if SPECS in folders):
            if is_project_root(place):
                yield f"contains the fleet {self._shown(place)}"

    def _among_specs(self, folder: Path, own: Path) -> str | None:
        if folder == own or not folder.is_relative_to(own):
            return f"is in {SPECS}/, but not below the folder of its spec"
        for other in sorted(self._spec_folders):
            if (
                other != own
                and other.is_relative_to(own)
                and (folder.is_relative_to(other) or other.is_relative_to(folder))
            ):
                return f"overlaps {self._shown(other)}/, the folder of other specs"
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
        named = [self.top / each for each in _OF_REPOSITORY]
        if is_product_clone(self.root):
            named += [self.root / each for each in PRODUCT]
        named += [self.root / each for each in INSTALLED]
        found = {path: self._shown(each) for each in named for path in _with_target(each)}
        return {f"{path}/": name for path, name in (found | dict(self._of_fleet(self.root))).items()}

    def _of_fleet(self, fleet: Path) -> Iterator[tuple[Path, str]]:
        for name in (*_LINKED, "locks", SPECS):
            folder = fleet / name
            yield from ((path, self._shown(folder)) for path in _with_target(folder))
            for link in folder.rglob("*") if name in _LINKED else ():
                if link.is_symlink():
                    yield Path(os.path.realpath(link)), self._shown(link)

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.top).as_posix()


def _programs(folder: Path) -> Iterator[Path]:
    """Programs in a folder, or below it beside the models: a repository has only folders of models."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        is_model = CONFIG in names or any(folder.isdigit() for folder in (*folders, *names))
        if is_model and place != str(folder):
            folders.clear()
        else:
            yield from (each for name in sorted(names) if _is_program(each := Path(place, name)))


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
