"""The files and folders that each endpoint is made from, as its spec names them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from triton_fleet.project.named_inputs import named_inputs
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import S3


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
        found = {*self.endpoints_of(file), *self._index[1]}
        return [name for name in self._project.endpoints if name in found]

    def endpoints_of(self, file: Path) -> list[str]:
        """The endpoints that a file or folder is a part of, or has a part of, in the project's order.

        It need not exist.
        """
        by_path, found = self._index[0], set[str]()
        for form in _forms(file):
            # What does not exist may have been a folder, or a link to one.
            found |= self._by_parent.get(form, set())
            for folder in (form, *form.parents):
                found |= by_path.get(folder, set())
        return [name for name in self._project.endpoints if name in found]

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
            loaded = self._project.specs.readable(name)
            if loaded is None:
                unreadable.add(name)
                continue
            for file in _inputs(loaded, with_repositories=self._with_repositories):
                for form in _forms(file):
                    by_path[form].add(name)
        return by_path, unreadable


def _inputs(loaded: LoadedSpec, *, with_repositories: bool) -> Iterator[Path]:
    """The files of a spec's layers, its repositories, the ONNX models of its engines, its image's folder."""
    yield from {layer.source.file for layer in loaded.layers}
    if not with_repositories:
        return
    for path, name in named_inputs(loaded.source):
        if not name.startswith(S3):
            yield loaded.source.mark(path).file.parent / name


def _forms(file: Path) -> set[Path]:
    """A path as it is written, and with its links followed."""
    forms = {Path(os.path.normpath(file.absolute()))}
    with suppress(OSError, ValueError):  # a cycle of links, or no name of a file
        forms.add(Path(os.path.realpath(file)))
    return forms
