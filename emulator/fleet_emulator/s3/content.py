"""The bytes of an object: written once, then shared by parts, objects and copies, and read in blocks."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

IN_MEMORY = 1 << 20
"""Larger bodies go into a file."""
BLOCK = 1 << 20


class Spool:
    """A file without a name, made when it is needed; it is removed with the last content in it."""

    def __init__(self) -> None:
        self._file: io.BufferedRandom | None = None

    def keep(self, body: bytes) -> Content:
        """Keep a body: in memory when it is small, else at the end of the file."""
        if len(body) <= IN_MEMORY:
            return Content([_Piece(body, 0, len(body))])
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as it has content)
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(body)
        self._file.flush()
        return Content([_Piece(self, start, len(body))])

    def read(self, start: int, size: int) -> bytes:
        """Read without a position, so several may read at once."""
        assert self._file is not None  # noqa: S101 (whoever reads has kept something)
        return os.pread(self._file.fileno(), size, start)

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


@dataclass(frozen=True)
class _Piece:
    source: bytes | Spool
    start: int
    size: int

    def read(self, start: int, size: int) -> bytes:
        start, size = self.start + start, min(size, self.size - start)
        if isinstance(self.source, bytes):
            return self.source[start : start + size]
        return self.source.read(start, size)


class Content:
    """Bytes that never change; a slice of them, or several joined, copies nothing."""

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        self._pieces = tuple(pieces)
        self._size = sum(piece.size for piece in self._pieces)

    @classmethod
    def joined(cls, contents: Iterable[Content]) -> Content:
        """The contents one after another."""
        return cls(piece for content in contents for piece in content._pieces)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            for start in range(0, piece.size, BLOCK):
                yield piece.read(start, BLOCK)

    def __getitem__(self, part: slice) -> Content:
        first, last, _ = part.indices(self._size)
        return Content(self._cut(first, last))

    def _cut(self, first: int, last: int) -> Iterator[_Piece]:
        passed = 0
        for piece in self._pieces:
            start, end = max(first - passed, 0), min(last - passed, piece.size)
            if start < end:
                yield _Piece(piece.source, piece.start + start, end - start)
            passed += piece.size


class ContentFile:
    """A content as the file that moto keeps in each of its objects, and only ever reads as a whole."""

    def __init__(self, content: Content) -> None:
        self.content = content

    def seek(self, position: int) -> int:
        """Go to the start, where it is already."""
        return position

    def read(self) -> bytes:
        """All of it."""
        return b"".join(self.content)

    def close(self) -> None:
        """Nothing is open: a file is removed with the last content in it."""
