"""The paths of one repository, however many they are: one set of limits for all that reads or unpacks one."""

from __future__ import annotations

from triton_fleet.repository.contents import Entry, EntryKind
from triton_fleet.repository.reading.gunzip import MAX_ENTRIES, MAX_SIZE
from triton_fleet.repository.stream import UnreadableError

MAX_PATHS = 64 << 20
"""Bytes of all paths together, as many as are packed: with all entries, some 300 MiB of memory."""
MAX_FOLDERS, MAX_AT_ROOT = 100_000, 10_000
"""Folders, and those at the root, each of which may be a model: an unpacked environment has some 5,000."""
FOLDER = Entry(EntryKind.FOLDER)


class TooManyError(UnreadableError):
    """There are more entries than the limit."""


class ClashError(UnreadableError):
    """One path is a folder and something else."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path!r} is in the archive as a folder and as something else")


class Paths:
    """The entries so far, by paths that are sound, with every folder above them.

    Attributes:
        entries: By path; a folder is one as soon as a path names it.
        size: Bytes of all that was added, also of what was replaced.
    """

    def __init__(self, *, unique: bool = False) -> None:
        self.entries: dict[str, Entry] = {}
        self.size = 0
        self._unique, self._folders_above = unique, set[str]()
        self._bytes = self._folders = self._at_root = 0

    def add(self, path: str, entry: Entry) -> Entry | None:
        """Put an entry at its path; return the one that it replaces.

        Raises:
            ClashError: it cannot replace the entry that has this path.
            TooManyError: it is one too many.
            UnreadableError: paths are to be unique, and this one was added before.
        """
        self.add_above(path)
        before = self.entries.get(path)
        if before is None:
            self._count(path, entry)
        elif (self._unique and path not in self._folders_above) or _is_folder(before) != _is_folder(entry):
            raise self._clash(path)
        self._folders_above.discard(path)
        self.size += entry.size
        if self.size > MAX_SIZE:
            raise TooManyError(f"it holds more than {MAX_SIZE >> 40} TiB")
        self.entries[path] = entry
        return before

    def add_above(self, path: str) -> None:
        """Add the folders above a path.

        Raises:
            ClashError: one of them is something else.
            TooManyError: they are too many.
        """
        end, new = path.rfind("/"), []
        while end > 0 and path[:end] not in self.entries:
            new.append(path[:end])
            end = path.rfind("/", 0, end)
        if end > 0 and not _is_folder(self.entries[path[:end]]):
            raise self._clash(path[:end])
        for folder in reversed(new):
            self._count(folder, FOLDER)
            self.entries[folder] = FOLDER
            self._folders_above.add(folder)

    def _count(self, path: str, entry: Entry) -> None:
        self._bytes += len(path.encode("utf-8", "surrogateescape"))
        if len(self.entries) == MAX_ENTRIES or self._bytes > MAX_PATHS:
            raise TooManyError(f"it holds more than {MAX_ENTRIES} entries or {MAX_PATHS >> 20} MiB of paths")
        if _is_folder(entry):
            self._folders += 1
            self._at_root += "/" not in path
        if self._folders > MAX_FOLDERS or self._at_root > MAX_AT_ROOT:
            raise TooManyError(f"it holds more than {MAX_FOLDERS} folders, or {MAX_AT_ROOT} at its root")

    def _clash(self, path: str) -> UnreadableError:
        return UnreadableError(f"{path!r} exists twice") if self._unique else ClashError(path)


def _is_folder(entry: Entry) -> bool:
    return entry.kind is EntryKind.FOLDER
