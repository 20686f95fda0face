"""Which endpoints a file of a fleet's repository concerns, as `git diff --name-only` prints it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Fleet, LoadedSpec, Project
from triton_fleet.project.reader import read_source
from triton_fleet.selection.condition import quote
from triton_fleet.spec.endpoint import S3
from triton_fleet.spec.prices import PRICES
from triton_fleet.spec.source import FOLDER, LOCK_END, OWN_FOLDERS, SPEC_END, named_inputs


class FleetInputs:
    """The inputs of all endpoints of a project; its specs are read at the first question.

    `locked`: they are made from what their locks name, not from their repositories.
    """

    def __init__(self, project: Project, *, locked: bool = False) -> None:
        self._project = project
        # An environment that is promoted to takes its archives from another one.
        self._with_repositories = not (locked or project.is_promoted)

    def possible_endpoints_of(self, file: Path) -> list[str]:
        """As `endpoints_of`, with those whose specs cannot be read, as nobody knows their inputs.

        Their own findings stop whoever selects them.
        """
        names = {*self.endpoints_of(file), *self._index[1]}
        return [name for name in self._project.endpoints if name in names]

    def endpoints_of(self, file: Path) -> list[str]:
        """The endpoints that a file or folder is a part of, or has a part of, in the project's order.

        It need not exist.
        """
        by_path, names = self._index[0], set[str]()
        for form in _forms(file):
            # What does not exist may have been a folder, or a link to one.
            names |= self._by_parent.get(form, set())
            for folder in (form, *form.parents):
                names |= by_path.get(folder, set())
        return [name for name in self._project.endpoints if name in names]

    @cached_property
    def _by_parent(self) -> dict[Path, set[str]]:
        """The endpoints by each folder that is above a path that they name."""
        by_parent = defaultdict[Path, set[str]](set)
        for path, names in self._index[0].items():
            for folder in path.parents:
                by_parent[folder] |= names
        return by_parent

    @cached_property
    def _index(self) -> tuple[dict[Path, set[str]], set[str]]:
        """The endpoints by each path that they name, and those that cannot be read."""
        by_path, unreadable = defaultdict[Path, set[str]](set), set[str]()
        for name in self._project.endpoints:
            loaded_spec = self._project.specs.readable(name)
            if loaded_spec is None:
                unreadable.add(name)
                continue
            for file in _inputs(loaded_spec, with_repositories=self._with_repositories):
                for form in _forms(file):
                    by_path[form].add(name)
        return by_path, unreadable


def _inputs(loaded_spec: LoadedSpec, *, with_repositories: bool) -> Iterator[Path]:
    """The files of a spec's layers, its repositories, the ONNX models of its engines, its image's folder."""
    yield from {layer.source.file for layer in loaded_spec.layers}
    if not with_repositories:
        return
    for path, name in named_inputs(loaded_spec.source):
        if not name.startswith(S3):
            yield loaded_spec.source.mark(path).file.parent / name


def _forms(file: Path) -> set[Path]:
    """A path as it is written, and with its links followed."""
    forms = {Path(os.path.normpath(file.absolute()))}
    with suppress(OSError, ValueError):  # a cycle of links, or no name of a file
        forms.add(Path(os.path.realpath(file)))
    return forms


YAML = ".yaml"
UNUSED_CODE = "FL126"
"""The code of a path that concerns no endpoint, and that no change can have."""
HINT = "name a spec, a lock, a profile, a file of a model repository, or a folder of such files"


@dataclass
class Selection:
    """The selection of arguments: endpoints of the project, and specs outside of it.

    Attributes:
        endpoints: Names, each once, in the order in which they were found.
        drafts: Specs that are not in model_specs/.
        former_names: Endpoints that were named by their files, and have no spec any more.
        reasons: One for each file that selects nothing.
    """

    endpoints: list[str] = field(default_factory=list)
    drafts: list[Path] = field(default_factory=list)
    former_names: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @classmethod
    def union(cls, selections: Iterable[Selection]) -> Selection:
        """Everything that one of them selects, each once."""
        parts = list(selections)
        return cls(
            list(dict.fromkeys(name for part in parts for name in part.endpoints)),
            list(dict.fromkeys(file for part in parts for file in part.drafts)),
            list(dict.fromkeys(name for part in parts for name in part.former_names)),
            list(dict.fromkeys(reason for part in parts for reason in part.reasons)),
        )

    def draft_names(self) -> list[str]:
        """The endpoints of those drafts that can be read."""
        names = list[str]()
        for draft in self.drafts:
            with suppress(FindingsError):
                names.append(str(read_source(draft).data.get("endpoint")))
        return names


class FleetPaths:
    """Maps files and folders to the endpoints of one environment."""

    def __init__(
        self,
        fleet: Fleet,
        environment: str,
        *,
        endpoints_of: Callable[[Path], list[str]],
        tree: Path,
        drafts: bool,
    ) -> None:
        """Read nothing yet.

        Args:
            fleet: The fleet.
            environment: Its locks and its own file concern the endpoints; those of others do not.
            endpoints_of: Those whose specs name a file or folder; specs are read when it is called.
            tree: The repository that the fleet is in; what is outside of it cannot be in a change.
            drafts: Whether specs outside of model_specs/ are taken.
        """
        self._fleet, self._root, self._environment = fleet, fleet.root, environment
        self._endpoints_of, self._tree, self._drafts = endpoints_of, tree, drafts

    def of(self, path: Path) -> Selection:
        """The endpoints that an existing folder or file concerns.

        Raises:
            FindingsError: it concerns no endpoint.
        """
        return self.of_folder(path) if path.is_dir() else self.of_file(path)

    def of_folder(self, folder: Path) -> Selection:
        """The endpoints with a spec in a folder, or with something else of theirs, and drafts in it.

        Raises:
            FindingsError: the folder concerns no endpoint.
        """
        path = self._in_fleet(folder)
        files = {*path.glob(f"*{YAML}")}
        for own in map(self._root.joinpath, OWN_FOLDERS):
            if own.is_relative_to(path) or path.is_relative_to(own):
                files.update((own if own.is_relative_to(path) else path).rglob(f"*{YAML}"))
        files = {file for file in files if not _is_hidden(*file.relative_to(path).parts)}
        parts = [Selection(self._below(path)), *map(self.of_file, sorted(files))]
        if not self._is_in_own(path) or any(map(_may_be_input, path.rglob("*"))):
            parts.append(self._of_input(path))
        selection = Selection.union(parts)
        if not (selection.endpoints or selection.drafts or selection.former_names or selection.reasons):
            raise self._unusable(folder, "the folder contains no spec, and no endpoint uses it")
        return selection

    def is_own(self, folder: Path) -> bool:
        """Whether a folder is one of the fleet's own, in one, or has the fleet in it."""
        path = self._in_fleet(folder)
        return self._root.is_relative_to(path) or self._is_in_own(path)

    def _is_in_own(self, path: Path) -> bool:
        return any(path.is_relative_to(self._root / own) for own in OWN_FOLDERS)

    def of_file(self, file: Path) -> Selection:
        """The endpoints that a file concerns, whether or not it exists.

        Raises:
            FindingsError: it is outside of the repository, and neither a spec nor part of an endpoint.
        """
        file = self._in_fleet(file)
        match file.relative_to(self._root).parts if file.is_relative_to(self._root) else ():
            case ["model_specs", *folders, name] if name.endswith(YAML) and not _is_hidden(*folders, name):
                return self._of_spec(file)
            case ["locks", environment, name] if name.endswith((LOCK_END, SPEC_END)):
                if environment != self._environment:
                    return self._empty_selection(file, f"it belongs to the environment {quote(environment)}")
                return self._by_name(name.removesuffix(LOCK_END).removesuffix(SPEC_END), file)
            case ["environments", name] if name == f"{self._environment}{YAML}":
                return self._all_endpoints()
            case ["environments", name] if name.endswith(YAML):
                other_name = name.removesuffix(YAML)
                reason = f"it is not the environment {self._environment!r}; pass `--env {other_name}` for it"
                return self._empty_selection(file, reason)
            case ["policies", *_, name] if name.endswith(YAML):
                return self._all_endpoints()
            case [name] if name == PRICES:  # policies compare costs at these prices
                return self._all_endpoints()
            case _:
                return self._of_other_file(file)

    def _all_endpoints(self) -> Selection:
        return Selection(list(self._project.endpoints))

    def _by_name(self, name: str, file: Path) -> Selection:
        if name in self._project.absent:
            return self._empty_selection(file, self._project.absent[name].message)
        return Selection([name]) if name in self._project.spec_files else Selection(former_names=[name])

    def _of_spec(self, file: Path) -> Selection:
        if self._project.is_promoted:
            return self._empty_selection(file, f"{self._environment} gets it by `fleet promote`")
        if file.name != FOLDER:
            return self._by_name(file.stem, file)
        below = self._below(file.parent)
        return Selection(below) if below else self._empty_selection(file, "its folder has no specs")

    def _below(self, folder: Path) -> list[str]:
        files = self._project.spec_files
        return [name for name in self._project.endpoints if files[name].is_relative_to(folder)]

    @cached_property
    def _project(self) -> Project:
        return self._fleet.open(self._environment)

    def _of_other_file(self, file: Path) -> Selection:
        selection = self._of_input(file)
        is_inside = file.is_relative_to(self._tree) or file.is_relative_to(self._root)
        if selection.endpoints:
            return selection
        if self._drafts and file.suffix == YAML and file.is_file() and (not is_inside or _is_spec(file)):
            return Selection(drafts=[file])
        if not is_inside:
            raise self._unusable(file, "this is not a spec, and no endpoint uses it")
        return self._empty_selection(file, f"no endpoint in {self._environment} uses it")

    def _of_input(self, file: Path) -> Selection:
        return Selection(self._endpoints_of(file))

    def _in_fleet(self, file: Path) -> Path:
        """The file by its path below the root, links followed where that leads elsewhere."""
        real, root = Path(os.path.realpath(file)), Path(os.path.realpath(self._root))
        if file.is_relative_to(self._root) or not real.is_relative_to(root):
            return file
        return self._root / real.relative_to(root)

    def _empty_selection(self, file: Path, reason: str) -> Selection:
        inside = file.is_relative_to(self._root)
        return Selection(reasons=[f"{file.relative_to(self._root) if inside else file}: {reason}"])

    def _unusable(self, file: Path, message: str) -> FindingsError:
        return FindingsError([Finding(code=UNUSED_CODE, message=message, hint=HINT, file=file)])


def _is_hidden(*names: str) -> bool:
    return any(name.startswith(".") for name in names)


def _may_be_input(file: Path) -> bool:
    """Whether a file in the fleet's own folders may be of a model or an image, and not a spec or a schema."""
    return file.suffix not in (YAML, ".json") and (file.is_symlink() or not file.is_dir())


def _is_spec(file: Path) -> bool:
    """Whether a YAML file of the repository is meant as a spec: others, such as a workflow's, are not."""
    try:
        return "endpoint" in read_source(file).data
    except FindingsError:
        return False
