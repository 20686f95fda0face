"""The files of a change that a deploy may execute: everything that the product does not read as data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from triton_fleet.changes.executed_file import ExecutedFile
from triton_fleet.check.platform_folders import INSTALLED
from triton_fleet.core.project_root import is_project_root
from triton_fleet.core.sources import PRODUCT, is_product_clone
from triton_fleet.findings import FindingsError
from triton_fleet.git.files import LINK_MODE, SUBMODULE_MODE, changed_modes
from triton_fleet.git.work_tree import WorkTree
from triton_fleet.project.reader import read_source
from triton_fleet.selection.paths import YAML
from triton_fleet.spec.prices import PRICES, PRICES_SCHEMA
from triton_fleet.spec.source import LOCKS, OWN_FOLDERS

DOCUMENTS = frozenset({".md", ".rst", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf"})
LICENCES = frozenset({"LICENSE", "LICENSE.txt", "NOTICE", "COPYING"})
ONNX = ".onnx"
_NAMING_KEYS = (("models", "repository"), ("engines", "onnx"), ("image", "build"))
"""The keys of a spec that name content, each with the key that it is below."""
_EXECUTE = 0o111
_PIP, _NPM, _MAKE = "what pip installs", "what npm installs", "what `make` runs"
_AT_ROOT = {
    "app.py": "the CDK app of `npx cdk`",
    "cdk.context.json": "context of `npx cdk`",
    "constraints.txt": _PIP,
    "pip.conf": _PIP,
    "pyproject.toml": "settings of Python tools",
    **dict.fromkeys(("package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc"), _NPM),
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile", "fleet.mk"), _MAKE),
}
"""Files at the top of a fleet that `fleet init` writes, or that the tools of a deploy look for."""
_INSTALLED = dict(zip(INSTALLED, (_NPM, _PIP), strict=True))
_REQUIREMENTS = re.compile(r"requirements.*\.(txt|in)")
_SUFFIXES = {".py": "a Python program or module", ".sh": "a shell script", ".mk": _MAKE}
_OF_PLATFORM = {
    ".github": "jobs of GitHub, or who reviews what",
    ".gitlab": "jobs of GitLab, or who reviews what",
}


def executed_files(root: Path, tree: WorkTree, commit: str, base: Path) -> tuple[ExecutedFile, ...]:
    """The files of a change that are not data of the fleet, sorted by path.

    Data are specs, locks, environments, profiles, policies and prices; documents; and what a spec names:
    model repositories, ONNX models, folders of images. A spec makes no data of a file that the base has for
    another purpose. A context in cdk.json is data, too.

    Args:
        root: The fleet, without links.
        tree: Its Git work tree.
        commit: The base of the change.
        base: The fleet's folder as the base has it.

    Raises:
        CannotRunError: Git failed.
    """
    scope = _ChangeScope(root, tree, commit, base)
    executed = list[ExecutedFile]()
    for file, (before, after) in changed_modes(tree.top, commit).items():
        path = PurePosixPath(file.relative_to(tree.top).as_posix())
        if what := scope.what_executes(path, before, after):
            change = "added" if not before else "deleted" if not after else "edited"
            change += ", executable" * (_became_executable(before, after) and after != SUBMODULE_MODE)
            executed.append(ExecutedFile(path=str(path), what=what, change=change))
    return tuple(sorted(executed, key=lambda each: each.path))


@dataclass(frozen=True)
class _ChangeScope:
    """The fleet in both commits of a change, with the files that are data."""

    root: Path
    tree: WorkTree
    commit: str
    base: Path

    def what_executes(self, path: PurePosixPath, before: int, after: int) -> str:
        """The program or tool that runs or reads a file, for people; "" if it is data."""
        special = {LINK_MODE: "a link", SUBMODULE_MODE: "a submodule"}
        for mode in (after, before):
            if mode in special:
                return special[mode]
        inside = path.relative_to(self._fleet) if path.is_relative_to(self._fleet) else None
        if before and _became_executable(before, after):
            return "a file that becomes executable"
        if _is_document(path) or self._is_own(path):
            return "a new executable file" if _became_executable(before, after) else ""
        if inside == PurePosixPath("cdk.json"):
            return self._settings()
        use = self._use_by_place(path, inside)
        if not use and self._is_content(path, exists=bool(after)):
            return ""
        other = "not data of the fleet" if inside else "outside the fleet's folder"
        return use or _SUFFIXES.get(path.suffix, other)

    def _is_own(self, path: PurePosixPath) -> bool:
        """Whether it is a YAML file of this fleet, or of another one of the repository."""
        if path.suffix != YAML and not path.name.endswith(".schema.json"):
            return False
        return any(
            path.relative_to(folder).parts[0] in (*OWN_FOLDERS, PRICES, PRICES_SCHEMA)
            and (folder == self._fleet or is_project_root(self.tree.top / folder))
            for folder in path.parents
        )

    def _settings(self) -> str:
        """The keys of cdk.json besides `context` that differ: `npx cdk` uses them."""
        try:
            old, new = (json.loads((each / "cdk.json").read_text("utf-8")) for each in (self.base, self.root))
            keys = sorted(key for key in {**old, **new} if old.get(key) != new.get(key) and key != "context")
        except (OSError, ValueError, TypeError, AttributeError):
            return "settings of the CDK CLI"
        return f"settings of the CDK CLI: {', '.join(keys)}" if keys else ""

    def _use_by_place(self, path: PurePosixPath, inside: PurePosixPath | None) -> str:
        """The use of a file whose place makes it no data, whatever a spec names; "" for other places."""
        if path.name == "CODEOWNERS":
            return "who reviews what"
        for name in (path, inside):
            if name and name.parts[0].startswith("."):
                uses = (use for prefix, use in _OF_PLATFORM.items() if name.parts[0].startswith(prefix))
                return next(uses, "") or _AT_ROOT.get(name.name, "settings of a tool")
        if inside is None:
            return "outside the fleet's folder" if len(path.parts) == 1 else ""
        if inside.parts[0] in _INSTALLED:
            return _INSTALLED[inside.parts[0]]
        is_of_example = inside.parts[0] == "examples" and inside.name.startswith("make_")
        if is_of_example and inside.suffix == ".py":
            return "what `make weights` runs"
        if len(inside.parts) == 1 or inside.parent == PurePosixPath("examples"):
            of_pip = _REQUIREMENTS.fullmatch(inside.name) or inside.name == "payload.txt"
            known = _PIP if of_pip else _AT_ROOT.get(inside.name, "")
            return known or _SUFFIXES.get(inside.suffix, "not data of the fleet")
        return "the product itself" if inside.parts[0] in PRODUCT and is_product_clone(self.root) else ""

    @cached_property
    def _fleet(self) -> PurePosixPath:
        return PurePosixPath(self.root.relative_to(self.tree.top).as_posix())

    def _is_content(self, path: PurePosixPath, *, exists: bool) -> bool:
        """Whether a spec names the file, or a folder above it, and the base has nothing else there.

        A program may import a package of Python, or a file other than an ONNX model, that is beside it.
        """
        old, new, for_other_purpose = self._spec_paths
        places = {path, *path.parents}
        if not exists:
            return bool(places & old)
        named = (places & new) - for_other_purpose
        is_module = path.parent in named and path.name.startswith("__init__.")
        return bool(named) and not is_module and (path not in named or path.suffix == ONNX)

    @cached_property
    def _spec_paths(self) -> tuple[Set[PurePosixPath], Set[PurePosixPath], Set[PurePosixPath]]:
        """Paths that specs name in the base and in the change, and those with another use in the base."""
        base_top = self.base.parents[len(self._fleet.parts) - 1] if self._fleet.parts else self.base
        old, new = _named_paths(self.base, base_top), _named_paths(self.root, self.tree.top)
        unknown = [each for each in new if not {each, *each.parents} & old]
        listed = b""
        if unknown:
            # Without -r and -t, a folder is not listed if something in it is asked for, too.
            command = ("ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", self.commit)
            listed = self.tree.run(*command, "--", *_literal(unknown)).stdout
        existing = {PurePosixPath(os.fsdecode(each)) for each in listed.split(b"\0") if each}
        return old, new, existing


def _named_paths(root: Path, top: Path) -> frozenset[PurePosixPath]:
    """The files and folders below the top that files of a fleet name in any layer or override.

    What cannot be read names nothing. Nothing around the fleet is content.
    """
    paths, fleet = set[PurePosixPath](), PurePosixPath(root.relative_to(top).as_posix())
    for file in (file for own in OWN_FOLDERS if own != LOCKS for file in (root / own).rglob(f"*{YAML}")):
        if file.is_symlink():
            continue
        try:
            data = read_source(file).data
        except FindingsError:
            continue
        for value in _path_values(data):
            place = Path(os.path.normpath(file.parent / value))
            if place.is_relative_to(top) and not root.is_relative_to(place):
                paths.add(PurePosixPath(place.relative_to(top).as_posix()))
    return frozenset(each for each in paths if not fleet.is_relative_to(each))


def _literal(paths: Sequence[PurePosixPath]) -> list[str]:
    return [f":(top,literal){path}" for path in paths]


def _path_values(data: object, key: str = "", parent: str = "") -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _path_values(value, str(name), key)
    elif isinstance(data, list):
        for value in data:
            yield from _path_values(value, key, parent)
    elif isinstance(data, str) and (parent, key) in _NAMING_KEYS:
        yield data


def _is_document(path: PurePosixPath) -> bool:
    return path.suffix.lower() in DOCUMENTS or path.name in LICENCES


def _became_executable(before: int, after: int) -> bool:
    return bool(after & _EXECUTE and not before & _EXECUTE)
