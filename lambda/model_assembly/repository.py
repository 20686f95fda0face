"""The files in a tar stream in S3, of which the headers alone are read."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import Any

from .copies import Range, read_range, whole
from .request import Place

BUFFER_BYTES = 128 << 10
"""Read at once: the headers of small files come with their content."""


def repository_files(s3: Any, stream: Place) -> Iterator[tuple[str, Range]]:
    """The path and the bytes of each file, in the order of the stream.

    Raises:
        ClientError: S3 refuses.
    """
    reader = io.BufferedReader(_ObjectReader(s3, whole(s3, stream)), BUFFER_BYTES)
    with tarfile.open(fileobj=reader, mode="r:") as tar:
        for member in tar:
            if member.isfile():
                yield member.name, Range(stream, member.offset_data, member.size)


class _ObjectReader(io.RawIOBase):
    """An object of S3 as a file; what is skipped is not fetched."""

    def __init__(self, s3: Any, content: Range) -> None:
        self._s3, self._content, self._position = s3, content, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._content.size}[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        size = max(0, min(len(buffer), self._content.size - self._position))
        buffer[:size] = read_range(self._s3, Range(self._content.place, self._position, size))
        self._position += size
        return size
