"""The paths of a repository that somebody else has put together: trusted in nothing, kept within bounds."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.repository.reading.entry_path import path_problem

MAX_ENTRIES, MAX_PATHS = 1_000_000, 64 << 20
"""Entries, and bytes of all paths together: what is remembered of a repository stays below some 300 MiB."""
MAX_SIZE = 1 << 40
"""Bytes of a repository, 1 TiB: more than an upload of archives takes, and an end to whatever inflates."""


class UntrustedError(Exception):
    """What is wrong with somebody else's repository."""


class Tree:
    """The folders and files of a repository as they become known, relative to its root.

    Adding one raises UntrustedError where its path leads out of the repository, is no name on Linux or is
    there already, or where there are too many.
    """

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        """Sizes in bytes, by path."""
        self.folders: set[str] = set()
        self._named: set[str] = set()
        self._entries = self._paths = self._size = 0

    def folder(self, path: str) -> None:
        """A folder that is there for itself, and the folders around it."""
        check_path(path)
        self._require_unique(path, path in self._named)
        self._named.add(path)
        self.around(f"{path}/")

    def file(self, path: str, size: int) -> None:
        """A file, and the folders around it."""
        check_path(path)
        self._require_unique(path, path in self.files or path in self.folders)
        self._count(path, size)
        self.files[path] = size
        self.around(path)

    def around(self, path: str) -> None:
        """The folders around a path."""
        end = path.rfind("/")
        while end > 0 and path[:end] not in self.folders:
            self._require_unique(path[:end], path[:end] in self.files)
            self._count(path[:end], 0)
            self.folders.add(path[:end])
            end = path.rfind("/", 0, end)

    def ordered(self) -> Iterator[tuple[str, int | None]]:
        """Paths with the sizes of files, None for folders, in the order in which a folder is packed."""
        found: dict[str, int | None] = {**dict.fromkeys(self.folders), **self.files}
        yield from sorted(found.items(), key=lambda each: place(each[0], is_folder=each[1] is None))

    def _require_unique(self, path: str, taken: bool) -> None:
        if taken:
            raise UntrustedError(f"{path!r} is there twice")

    def _count(self, path: str, size: int) -> None:
        self._entries += 1
        self._paths += len(path.encode())
        self._size += size
        if self._entries > MAX_ENTRIES or self._paths > MAX_PATHS or self._size > MAX_SIZE:
            bounds = f"{MAX_ENTRIES} entries, {MAX_PATHS >> 20} MiB of paths or {MAX_SIZE >> 40} TiB"
            raise UntrustedError(f"it holds more than {bounds}")


def check_path(path: str) -> None:
    """See that a path stays within its repository, and is one on Linux.

    Raises:
        UntrustedError: it is not.
    """
    parts = path.split("/")
    is_plain = "" not in parts and "." not in parts
    if problem := path_problem(path) or ("" if is_plain else "has an empty name in its path"):
        raise UntrustedError(f"{path!r} {problem}")


def place(path: str, *, is_folder: bool) -> tuple[tuple[bool, str], ...]:
    """What paths are sorted by: a folder, its files, then the folders in it, as a folder's entries."""
    *above, name = path.split("/")
    return (*((True, part) for part in above), (is_folder, name))
