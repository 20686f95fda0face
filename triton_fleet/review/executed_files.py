"""The files of a change that a deploy may execute: everything that the product does not read as data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from triton_fleet.changes.fleet_change import ExecutedFile
from triton_fleet.check.repository_owners import PACKAGE_FOLDERS
from triton_fleet.core.folders import PRODUCT, is_product_clone, is_project_root
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
_USES_OF_PACKAGES = dict(zip(PACKAGE_FOLDERS, (_NPM, _PIP), strict=True))
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
    files = list[ExecutedFile]()
    for file, (before, after) in changed_modes(tree.top, commit).items():
        path = PurePosixPath(file.relative_to(tree.top).as_posix())
        if use := scope.what_executes(path, before, after):
            change = "added" if not before else "deleted" if not after else "edited"
            change += ", executable" * (_became_executable(before, after) and after != SUBMODULE_MODE)
            files.append(ExecutedFile(path=str(path), what=use, change=change))
    return tuple(sorted(files, key=lambda executed_file: executed_file.path))


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
        if path.suffix.lower() in DOCUMENTS or path.name in LICENCES or self._is_own(path):
            return "a new executable file" if _became_executable(before, after) else ""
        if inside == PurePosixPath("cdk.json"):
            return self._settings()
        use = self._use_by_place(path, inside)
        if not use and self._is_content(path, exists=bool(after)):
            return ""
        default = "not data of the fleet" if inside else "outside the fleet's folder"
        return use or _SUFFIXES.get(path.suffix, default)

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
            old, new = (
                json.loads((folder / "cdk.json").read_text("utf-8")) for folder in (self.base, self.root)
            )
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
        if inside.parts[0] in _USES_OF_PACKAGES:
            return _USES_OF_PACKAGES[inside.parts[0]]
        is_of_example = inside.parts[0] == "examples" and inside.name.startswith("make_")
        if is_of_example and inside.suffix == ".py":
            return "what `make weights` runs"
        if len(inside.parts) == 1 or inside.parent == PurePosixPath("examples"):
            of_pip = _REQUIREMENTS.fullmatch(inside.name) or inside.name == "payload.txt"
            default_use = _PIP if of_pip else _AT_ROOT.get(inside.name, "")
            return default_use or _SUFFIXES.get(inside.suffix, "not data of the fleet")
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
        content_paths = (places & new) - for_other_purpose
        is_module = path.parent in content_paths and path.name.startswith("__init__.")
        return bool(content_paths) and not is_module and (path not in content_paths or path.suffix == ONNX)

    @cached_property
    def _spec_paths(self) -> tuple[Set[PurePosixPath], Set[PurePosixPath], Set[PurePosixPath]]:
        """Paths that specs name in the base and in the change, and those with another use in the base."""
        base_top = self.base.parents[len(self._fleet.parts) - 1] if self._fleet.parts else self.base
        old, new = _named_paths(self.base, base_top), _named_paths(self.root, self.tree.top)
        unknown = [path for path in new if not {path, *path.parents} & old]
        output = b""
        if unknown:
            # Without -r and -t, a folder is not listed if something in it is asked for, too.
            command = ("ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", self.commit)
            output = self.tree.run(*command, "--", *(f":(top,literal){path}" for path in unknown)).stdout
        other_paths = {PurePosixPath(os.fsdecode(path)) for path in output.split(b"\0") if path}
        return old, new, other_paths


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
    return frozenset(path for path in paths if not fleet.is_relative_to(path))


def _path_values(data: object, key: str = "", parent: str = "") -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _path_values(value, str(name), key)
    elif isinstance(data, list):
        for value in data:
            yield from _path_values(value, key, parent)
    elif isinstance(data, str) and (parent, key) in _NAMING_KEYS:
        yield data


def _became_executable(before: int, after: int) -> bool:
    return bool(after & _EXECUTE and not before & _EXECUTE)
