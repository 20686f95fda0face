"""gzip, undone as it is read, and not for ever."""

from __future__ import annotations

from dataclasses import dataclass

from isal import isal_zlib

from triton_fleet.repository.stream import PIECE, CutOffError, Stream, UnreadableError

MAGIC = b"\x1f\x8b"
GZIP = 31
"""zlib's number for streams with gzip's header and checksum."""
FREE = 4 << 30
"""Bytes that anything may unpack to; some seconds' work."""
MAX_RATIO = 100
"""Above those, so many times its size. Weights and code shrink to a tenth at most, a bomb to a thousandth."""
MAX_SIZE = 1 << 40
"""Bytes that an archive may unpack to at all, 1 TiB: as many are packed, and more than an instance keeps."""
MAX_ENTRIES = 1_000_000
"""Entries of archives and of archives in them, also of one name; an unpacked environment has some 50,000."""


class ArchiveTooLargeError(UnreadableError):
    """It unpacks to more than the limit."""


@dataclass
class Bounds:
    """Sizes unpacked so far, also in archives; `packed_size` is that of the outer ones on disk."""

    packed_size: int
    unpacked_size: int = 0
    entries: int = 0

    def enter(self) -> None:
        """One entry more.

        Raises:
            TooLargeError: it is one too many.
        """
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            raise ArchiveTooLargeError(f"it holds more than {MAX_ENTRIES} entries")

    def unpack(self, size: int) -> None:
        """So many bytes more.

        Raises:
            TooLargeError: they are too many.
        """
        self.unpacked_size += size
        if self.unpacked_size > MAX_SIZE:
            raise ArchiveTooLargeError(f"it unpacks to more than {MAX_SIZE >> 40} TiB")
        if self.unpacked_size > FREE + MAX_RATIO * self.packed_size:
            raise ArchiveTooLargeError(f"it unpacks to more than {MAX_RATIO} times its size")


class Gunzip(Stream):
    """Content of a gzip stream; several in a row are one, and zeros may follow."""

    def __init__(self, stream: Stream, bounds: Bounds) -> None:
        super().__init__()
        self._stream, self._bounds = stream, bounds
        self._data, self._may_hold = b"", False
        self._inflate = isal_zlib.decompressobj(GZIP)

    def _next(self) -> bytes:
        piece = b""
        while not piece:
            if self._inflate.eof and not self._has_next_stream():
                return b""
            if not self._data and not self._may_hold:
                self._data = self._stream.read(PIECE)
                if not self._data:
                    raise CutOffError("it is cut off: the end of its gzip stream is missing")
            try:
                piece = self._inflate.decompress(self._data, PIECE)
            except isal_zlib.error as error:  # type: ignore[misc]  # the stub has an instance
                raise UnreadableError(f"its gzip stream is damaged: {error}") from error
            self._data = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            self._may_hold = len(piece) == PIECE
        self._bounds.unpack(len(piece))
        return piece

    def _has_next_stream(self) -> bool:
        """Whether another gzip stream follows, after any number of zeros."""
        self._data = self._data.lstrip(b"\0")
        while not self._data:
            self._data = self._stream.read(PIECE)
            if not self._data:
                return False
            self._data = self._data.lstrip(b"\0")
        if not self._data.startswith(MAGIC[:1]):
            raise UnreadableError("it is not gzip")
        self._inflate = isal_zlib.decompressobj(GZIP)
        return True


def gunzip(stream: Stream, bounds: Bounds, *, is_required: bool = False) -> Stream:
    """The content of a gzip stream; any other stream itself.

    Raises:
        UnreadableError: it is not gzip where that `is_required`.
    """
    if stream.peek(len(MAGIC)) == MAGIC:
        return Gunzip(stream, bounds)
    if is_required:
        raise UnreadableError("it is not gzip")
    return stream
