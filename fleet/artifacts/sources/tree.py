"""The paths of an untrusted repository, with limits."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.repository.reading.entry_path import packing_key, path_problem

MAX_ENTRIES, MAX_PATHS = 1_000_000, 64 << 20
"""Entries, and bytes of all paths together: the memory for a repository stays below some 300 MiB."""
MAX_SIZE = 1 << 40
"""Bytes of a repository, 1 TiB: more than an upload of archives takes, and a limit for what inflates."""


class UntrustedError(Exception):
    """The problem of an untrusted repository."""


class Tree:
    """The folders and files of a repository that are known so far, relative to its root.

    Adding one raises UntrustedError if its path leads out of the repository, is not valid on Linux or exists
    already, or if there are too many.
    """

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        """Sizes in bytes, by path."""
        self.folders: set[str] = set()
        self._named: set[str] = set()
        self._entries = self._paths = self._size = 0

    def folder(self, path: str) -> None:
        """Add an explicit folder and the folders around it."""
        check_path(path)
        self._require_unique(path, path in self._named)
        self._named.add(path)
        self.around(f"{path}/")

    def file(self, path: str, size: int) -> None:
        """Add a file and the folders around it."""
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
        """Paths with the sizes of files, None for folders, in the order of a packed folder."""
        found: dict[str, int | None] = {**dict.fromkeys(self.folders), **self.files}
        yield from sorted(found.items(), key=lambda each: packing_key(each[0], is_folder=each[1] is None))

    def _require_unique(self, path: str, taken: bool) -> None:
        if taken:
            raise UntrustedError(f"{path!r} exists twice")

    def _count(self, path: str, size: int) -> None:
        self._entries += 1
        self._paths += len(path.encode())
        self._size += size
        if self._entries > MAX_ENTRIES or self._paths > MAX_PATHS or self._size > MAX_SIZE:
            bounds = f"{MAX_ENTRIES} entries, {MAX_PATHS >> 20} MiB of paths or {MAX_SIZE >> 40} TiB"
            raise UntrustedError(f"it has more than {bounds}")


def check_path(path: str) -> None:
    """Check that a path stays within its repository and is valid on Linux.

    Raises:
        UntrustedError: it does not or is not.
    """
    parts = path.split("/")
    is_plain = "" not in parts and "." not in parts
    if problem := path_problem(path) or ("" if is_plain else "has an empty name in its path"):
        raise UntrustedError(f"{path!r} {problem}")
