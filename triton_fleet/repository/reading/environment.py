"""Content of a Python environment, packed or not.

Sources: triton-inference-server/python_backend, r26.06, src/pb_env.cc: a tar stream, gzip or not, whatever
its name; src/stub_launcher.cc: `bin/activate` is looked for at its root.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from triton_fleet.repository.contents import CondaEnvironment
from triton_fleet.repository.reading.gunzip import ArchiveTooLargeError, Bounds, gunzip
from triton_fleet.repository.reading.tar import members
from triton_fleet.repository.stream import Stream, UnreadableError

ACTIVATE = "bin/activate"
PYTHON = re.compile(r"((?:[^/]+/){0,2})(?:bin|lib)/python(\d)\.(\d{1,3})(?:/.*)?", re.DOTALL)
"""conda puts a link `lib/python3.1` beside `lib/python3.12`: the interpreter's is the highest version."""
MAX_ROOTS = 100
"""Folders that may be an environment."""


class Traits:
    """Traits of an environment, by the paths in it."""

    def __init__(self) -> None:
        self._activate = ""
        self._pythons: dict[str, tuple[int, int]] = {}

    def add(self, path: str) -> None:
        """A path, relative to the root."""
        if (path == ACTIVATE or path.endswith(f"/{ACTIVATE}")) and self._activate != ACTIVATE:
            self._activate = path
        if (match := PYTHON.fullmatch(path)) and len(self._pythons) < MAX_ROOTS:
            root, version = match[1], (int(match[2]), int(match[3]))
            self._pythons[root] = max(self._pythons.get(root, version), version)

    def environment(self, problem: str = "") -> CondaEnvironment:
        """The environment as far as its paths are read."""
        version = self._pythons.get(self._activate.removesuffix(ACTIVATE), ())
        return CondaEnvironment(self._activate, ".".join(map(str, version)), problem)


def read_environment(content: Stream, bounds: Bounds) -> CondaEnvironment:
    """A packed environment.

    Raises:
        TooLargeError: it unpacks to too much, and so does the archive that it is in.
    """
    traits = Traits()
    try:
        for member in members(gunzip(content, bounds), bounds):
            traits.add(member.path.removeprefix("./").rstrip("/"))
    except ArchiveTooLargeError:
        raise
    except UnreadableError as error:
        return traits.environment(str(error))
    return traits.environment()


def unpacked_environment(paths: Iterable[str]) -> CondaEnvironment:
    """An environment in a folder, by the paths in it, relative to that folder."""
    traits = Traits()
    for path in paths:
        traits.add(path)
    return traits.environment()
