"""Bytes that are read once, in their order, in a fixed amount of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

PIECE = 1 << 20
"""Bytes that are read at one time where all are read."""
CHUNK = 1 << 15
"""Bytes that are read of a file at one time, most of which may be passed over."""


class UnreadableError(Exception):
    """Why the rest of a stream cannot be read."""


class CutOffError(UnreadableError):
    """It ends too early."""


class Stream:
    """A stream; `position` counts the bytes that were read or passed over.

    All methods raise UnreadableError where what it is read from is damaged.
    """

    def __init__(self, content: bytes = b"") -> None:
        self._buffer, self._at = content, 0
        self.position = 0

    def read(self, size: int) -> bytes:
        """At most so many bytes; none only at the end."""
        if self._at == len(self._buffer):
            self._buffer, self._at = self._next(), 0
        piece = self._buffer[self._at : self._at + size]
        self._at += len(piece)
        self.position += len(piece)
        return piece

    def read_exact(self, size: int) -> bytes:
        """So many bytes, fewer only at the end."""
        if len(self._buffer) - self._at >= size:  # as for most headers
            return self.read(size) if size else b""
        pieces = []
        while size and (piece := self.read(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def pieces(self) -> Iterator[bytes]:
        """The rest, at most a MiB at one time."""
        while piece := self.read(PIECE):
            yield piece

    def skip(self, size: int) -> int:
        """Pass over so many bytes; how many there were."""
        count = min(size, len(self._buffer) - self._at)
        self._at += count
        count += self._pass(size - count)
        self.position += count
        return count

    def peek(self, size: int) -> bytes:
        """The next bytes, which are read again; fewer only at the end."""
        while len(self._buffer) - self._at < size and (chunk := self._next()):
            self._buffer, self._at = self._buffer[self._at :] + chunk, 0
        return self._buffer[self._at : self._at + size]

    def _next(self) -> bytes:
        """The bytes after those in the buffer, as many as there are at one time."""
        return b""

    def _pass(self, size: int) -> int:
        """Pass over bytes after those in the buffer."""
        count = 0
        while count < size and (chunk := self._next()):
            start = min(size - count, len(chunk))
            self._buffer, self._at = chunk, start
            count += start
        return count


class ChunkStream(Stream):
    """The bytes of chunks; `write` takes all of them as they come, also those that are passed over."""

    def __init__(self, chunks: Iterator[bytes], write: Callable[[bytes], object] = lambda _: None) -> None:
        super().__init__()
        self._chunks, self._write = filter(None, chunks), write

    def _next(self) -> bytes:
        chunk = next(self._chunks, b"")
        self._write(chunk)
        return chunk


class FileStream(Stream):
    """A file of so many bytes, which need not be read to pass over what is in it."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__()
        self._file, self._rest = file, size

    def _next(self) -> bytes:
        try:
            chunk = self._file.read(CHUNK)
        except OSError as error:
            raise UnreadableError(f"it cannot be read: {error.strerror}") from error
        self._rest -= len(chunk)
        return chunk

    def _pass(self, size: int) -> int:
        count = min(size, max(self._rest, 0))
        self._file.seek(count, 1)
        self._rest -= count
        return count


class Part(Stream):
    """The next bytes of another stream; `remaining_size` of them are still to come."""

    def __init__(self, whole: Stream, size: int) -> None:
        super().__init__()
        self._whole, self.size, self.remaining_size = whole, size, size

    def end(self) -> bool:
        """Skip the rest; whether it was complete."""
        self._buffer, self._at = b"", 0
        if self.remaining_size:
            self._pass(self.remaining_size)
        return not self.remaining_size

    def _next(self) -> bytes:
        chunk = self._whole.read(self.remaining_size) if self.remaining_size else b""
        self.remaining_size -= len(chunk)
        return chunk

    def _pass(self, size: int) -> int:
        count = self._whole.skip(min(size, self.remaining_size))
        self.remaining_size -= count
        return count
