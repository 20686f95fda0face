"""What becomes known of a repository as its entries pass by, however hostile they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fleet.findings import Finding, Severity
from fleet.repository.contents import Contents, Entry, EntryKind
from fleet.repository.onnx.header import OnnxHeader
from fleet.repository.python.conda import CondaEnvironment
from fleet.repository.reading.stream import UnreadableError

MAX_ENTRIES, MAX_PATHS = 1_000_000, 64 << 20
"""Entries, and bytes of all paths together, as many as are packed: some 300 MiB of memory."""
MAX_FOLDERS, MAX_AT_ROOT = 100_000, 10_000
"""Folders, and those at the root, each of which may be a model: an unpacked environment has some 5,000."""
FOLDER = Entry(EntryKind.FOLDER)


class TooManyError(UnreadableError):
    """There are more entries than the limit."""


class Collector:
    """The entries so far, with what was read of them."""

    def __init__(self, place: Path, *, archive: bool) -> None:
        self.place, self.notes = place, Notes(place)
        self.texts: dict[str, bytes] = {}
        self.headers: dict[str, OnnxHeader] = {}
        self.environments: dict[str, CondaEnvironment] = {}
        self._archive = archive
        self._entries: dict[str, Entry] = {}
        self._paths = self._folders = self._at_root = 0

    def add(self, path: str, entry: Entry) -> bool:
        """An entry whose path is sound; False if it cannot be where another one is.

        Raises:
            TooManyError: it is one too many.
        """
        if not self._above(path):
            return False
        before = self._entries.get(path)
        if before is None:
            self._count(path, entry)
        elif before.kind is EntryKind.FOLDER and entry.kind is EntryKind.FOLDER:
            return True
        elif EntryKind.FOLDER in (before.kind, entry.kind):
            self._clash(path)
            return False
        else:
            self._forget_replaced(path)
        self._entries[path] = entry
        return True

    def files(self) -> list[tuple[str, int]]:
        """The regular files, with their sizes."""
        return [(path, entry.size) for path, entry in self._entries.items() if entry.kind is EntryKind.FILE]

    def contents(self) -> Contents:
        """All of it."""
        return Contents(
            place=self.place,
            archive=self._archive,
            entries=dict(sorted(self._entries.items())),
            texts=self.texts,
            headers=self.headers,
            environments=self.environments,
            findings=self.notes.findings(),
        )

    def _above(self, path: str) -> bool:
        end, new = path.rfind("/"), []
        while end > 0 and path[:end] not in self._entries:
            new.append(path[:end])
            end = path.rfind("/", 0, end)
        if end > 0 and self._entries[path[:end]].kind is not EntryKind.FOLDER:
            self._clash(path[:end])
            return False
        for folder in new:
            self._count(folder, FOLDER)
            self._entries[folder] = FOLDER
        return True

    def _count(self, path: str, entry: Entry) -> None:
        self._paths += len(path.encode("utf-8", "surrogateescape"))
        if len(self._entries) == MAX_ENTRIES or self._paths > MAX_PATHS:
            raise TooManyError(f"it holds more than {MAX_ENTRIES} entries or {MAX_PATHS >> 20} MiB of paths")
        if entry.kind is EntryKind.FOLDER:
            self._folders += 1
            self._at_root += "/" not in path
        if self._folders > MAX_FOLDERS or self._at_root > MAX_AT_ROOT:
            raise TooManyError(f"it holds more than {MAX_FOLDERS} folders, or {MAX_AT_ROOT} at its root")

    def _clash(self, path: str) -> None:
        message = f"{path!r} is in the archive as a folder and as something else"
        self.notes.add("FL442", message, path, hint="it cannot be unpacked: make the archive again")

    def _forget_replaced(self, path: str) -> None:
        for kept in (self.texts, self.headers, self.environments):
            kept.pop(path, None)
        message = f"{path!r} is in the archive twice: the later one is unpacked over the earlier"
        hint = "make the archive again, naming each folder once and nothing in it"
        self.notes.add("FL442", message, path, hint, Severity.WARNING)


MAX_NAMES = 10
"""Findings of one code; an unpacked Python environment has thousands of links."""


@dataclass
class Notes:
    """The findings of one folder or archive."""

    place: Path
    _found: dict[str, list[Finding]] = field(default_factory=dict)
    _more: dict[str, int] = field(default_factory=dict)

    def add(
        self, code: str, message: str, path: str = "", hint: str = "", severity: Severity = Severity.ERROR
    ) -> None:
        """What is wrong with an entry, or with all of it."""
        found = self._found.setdefault(code, [])
        if len(found) == MAX_NAMES:
            self._more[code] = self._more.get(code, 0) + 1
            return
        file = self.place / path if path else self.place
        found.append(Finding(code=code, message=message, file=file, hint=hint, severity=severity))

    def findings(self) -> tuple[Finding, ...]:
        """All of them, sorted; of a kind with too many, the first and how many more there are."""
        found = [each for kind in self._found.values() for each in kind]
        for code, more in self._more.items():
            message = f"{more} more of these were found"
            severity = self._found[code][0].severity
            found.append(Finding(code=code, message=message, file=self.place, severity=severity))
        return tuple(sorted(found, key=lambda finding: finding.sort_key))
