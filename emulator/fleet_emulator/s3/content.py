"""The bytes of an object: written once, then shared by parts, objects and copies, and read in blocks."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from moto.s3.exceptions import InvalidArgumentError
from moto.s3.models import FakeKey

from fleet_emulator.s3.checksums import Checksum

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


def fill(key: FakeKey, content: Content) -> None:
    """Give an empty object its content, and its ETag where it has none."""
    key._value_buffer.close()
    key._value_buffer = cast(Any, ContentFile(content))
    key.contentsize = len(content)
    cast(Any, key).__deepcopy__ = lambda _memo: _alike(key)
    if key._etag is None:
        md5 = hashlib.md5(usedforsecurity=False)
        for block in content:
            md5.update(block)
        key._etag = md5.hexdigest()


class _Listed(FakeKey):
    def __del__(self) -> None:
        """The content is the object's that was listed: there is nothing to give back."""


def _alike(key: FakeKey) -> FakeKey:
    """Another object of that content: to list versions, moto copies a whole bucket, bytes included."""
    alike = object.__new__(_Listed)
    alike.__dict__.update(key.__dict__)
    return alike


def content_of(key: FakeKey) -> Content:
    """The content of an object that was filled."""
    return cast(ContentFile, key._value_buffer).content


def note(key: FakeKey, checksum: Checksum | None, checksum_type: str) -> None:
    """Give an object its checksum; moto keeps the number of parts beside it."""
    key.checksum_algorithm = checksum.algorithm if checksum else None
    key.checksum_type = checksum_type if checksum else None
    key.checksum_value, _, parts = checksum.value.partition("-") if checksum else (None, "", "")
    key.checksum_parts = int(parts) if parts else None


def checksum_headers(key: FakeKey) -> Checksum | None:
    """The checksum of an object, as headers have it."""
    if not key.checksum_algorithm or not key.checksum_value:
        return None
    parts = "" if key.checksum_parts is None else f"-{key.checksum_parts}"
    return Checksum(key.checksum_algorithm, f"{key.checksum_value}{parts}")


def copy_range(source: FakeKey, asked: str) -> Content:
    """What UploadPartCopy copies: all of an object, or the range `bytes=FIRST-LAST`.

    Raises:
        InvalidArgumentError: the object has no such range.
    """
    content = content_of(source)
    if not asked:
        return content
    first, _, last = asked.removeprefix("bytes=").partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < len(content)):
        message = f"Range specified is not valid for source object of size: {len(content)}"
        raise InvalidArgumentError(message, "x-amz-copy-source-range", asked)
    return content[int(first) : int(last) + 1]


class OpenObject:
    """An object to be sent: its value is its content, of which moto sends the range that is asked for."""

    def __init__(self, key: FakeKey) -> None:
        self._key = key

    @property
    def value(self) -> Content:
        """What moto measures, slices and gives to the web server."""
        return content_of(self._key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._key, name)
