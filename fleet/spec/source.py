"""Documents with the place of every key, and how one is laid over another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from fleet.findings import Finding

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: `("scaling", "min")`, `("models", 0, "archive")`."""


@dataclass(frozen=True)
class Mark:
    """A place in a file, with what stands there where it is a single value; line and column count from 1."""

    file: Path
    line: int
    column: int
    text: str = ""


def finding_at(mark: Mark, code: str, message: str, hint: str = "") -> Finding:
    """An error at a place of a file."""
    return Finding(code=code, message=message, hint=hint, file=mark.file, line=mark.line, column=mark.column)


@dataclass(frozen=True)
class Source:
    """A document as plain Python data, with the mark of each of its keys and items."""

    file: Path
    data: dict[str, object]
    marks: Mapping[KeyPath, Mark] = field(default_factory=dict)

    def mark(self, path: KeyPath) -> Mark:
        """The place of a key, or of its nearest parent that the document has."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.marks:
                return self.marks[path[:end]]
        return self.marks.get((), Mark(self.file, 1, 1))

    def latest_mark(self, path: KeyPath) -> Mark:
        """Of a mapping, the place on which another file had the last word; else the mapping's own."""
        own = self.mark(path)
        below = (mark for key, mark in self.marks.items() if key[: len(path)] == path)
        laid_over = [mark for mark in below if mark.file != self.file]
        return laid_over[-1] if laid_over and own.file == self.file else own

    def section(self, *path: str) -> Source:
        """The mapping below a path as a document of its own; empty where there is none."""
        data: object = self.data
        for key in path:
            data = data.get(key) if isinstance(data, dict) else None
        size = len(path)
        marks = {key[size:]: mark for key, mark in self.marks.items() if key[:size] == path and key != path}
        return Source(self.file, data if isinstance(data, dict) else {}, marks)

    def merged(self, above: Source) -> Source:
        """This document with another laid over it: mappings merge key by key, everything else is replaced."""
        data, marks = dict(self.data), dict(self.marks)
        _lay_over(data, above.data, (), marks, above.marks)
        return Source(self.file, data, marks)


def _lay_over(
    below: dict[str, object],
    above: Mapping[str, object],
    path: KeyPath,
    marks: dict[KeyPath, Mark],
    marks_above: Mapping[KeyPath, Mark],
) -> None:
    for key, value in above.items():
        here: KeyPath = (*path, key)
        old = below.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            below[key] = merged = dict(old)
            _lay_over(merged, value, here, marks, marks_above)
            continue
        for stale in [mark for mark in marks if mark[: len(here)] == here]:
            del marks[stale]
        marks.update({mark: place for mark, place in marks_above.items() if mark[: len(here)] == here})
        below[key] = value
