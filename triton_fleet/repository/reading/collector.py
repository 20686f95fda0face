"""Facts of a repository, collected as its entries pass by, however hostile they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.contents import CondaEnvironment, Contents, Entry, EntryKind, OnnxHeader
from triton_fleet.repository.reading.paths import ClashError, Paths


class Collector:
    """The entries so far, with what was read of them; `unique` refuses a path that is added twice."""

    def __init__(self, place: Path, *, archive: bool, unique: bool = False) -> None:
        self.place, self.notes = place, Notes(place)
        self.texts: dict[str, bytes] = {}
        self.headers: dict[str, OnnxHeader] = {}
        self.environments: dict[str, CondaEnvironment] = {}
        self.paths = Paths(unique=unique)
        self._archive = archive

    def add(self, path: str, entry: Entry) -> bool:
        """An entry whose path is sound; False if it cannot be where another one is.

        Raises:
            TooManyError: it is one too many.
            UnreadableError: paths are to be unique, and this one was added before.
        """
        try:
            before = self.paths.add(path, entry)
        except ClashError as error:
            self.notes.add(
                "FL442", str(error), error.path, hint="it cannot be unpacked: make the archive again"
            )
            return False
        if before is not None and before.kind is not EntryKind.FOLDER:
            self._forget(path)
        return True

    def files(self) -> list[tuple[str, int]]:
        """The regular files, with their sizes."""
        return [
            (path, entry.size) for path, entry in self.paths.entries.items() if entry.kind is EntryKind.FILE
        ]

    def folders(self) -> list[str]:
        """The folders."""
        return [path for path, entry in self.paths.entries.items() if entry.kind is EntryKind.FOLDER]

    def contents(self) -> Contents:
        """All of it."""
        return Contents(
            place=self.place,
            archive=self._archive,
            entries=dict(sorted(self.paths.entries.items())),
            texts=self.texts,
            headers=self.headers,
            environments=self.environments,
            findings=self.notes.findings(),
        )

    def _forget(self, path: str) -> None:
        for contents_by_path in (self.texts, self.headers, self.environments):
            contents_by_path.pop(path, None)
        message = f"{path!r} is in the archive twice: the later one is unpacked over the earlier"
        hint = "make the archive again, naming each folder once and nothing in it"
        self.notes.add("FL442", message, path, hint, Severity.WARNING)


MAX_NAMES = 10
"""Findings of one code; an unpacked Python environment has thousands of links."""


@dataclass
class Notes:
    """The findings of one folder or archive."""

    place: Path
    _by_code: dict[str, list[Finding]] = field(default_factory=dict)
    _more: dict[str, int] = field(default_factory=dict)

    def add(
        self, code: str, message: str, path: str = "", hint: str = "", severity: Severity = Severity.ERROR
    ) -> None:
        """Note a finding in an entry, or in all of it."""
        same_code = self._by_code.setdefault(code, [])
        if len(same_code) == MAX_NAMES:
            self._more[code] = self._more.get(code, 0) + 1
            return
        file = self.place / path if path else self.place
        same_code.append(Finding(code=code, message=message, file=file, hint=hint, severity=severity))

    def findings(self) -> tuple[Finding, ...]:
        """All of them, sorted; of a kind with too many, the first and how many more there are."""
        all_findings = [note for kind in self._by_code.values() for note in kind]
        for code, more in self._more.items():
            message = f"{more} more of these were found"
            severity = self._by_code[code][0].severity
            all_findings.append(Finding(code=code, message=message, file=self.place, severity=severity))
        return tuple(sorted(all_findings, key=lambda problem: problem.sort_key))
