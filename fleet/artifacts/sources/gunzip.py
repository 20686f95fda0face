"""gzip, undone as it arrives."""

from __future__ import annotations

from collections.abc import Iterator

from isal import isal_zlib

from fleet.artifacts.sources.tree import MAX_SIZE, UntrustedError

AT_ONCE = 1 << 20
GZIP = 31
"""zlib's number for streams with gzip's header and checksum."""


def gunzip(chunks: Iterator[bytes], limit: int = MAX_SIZE) -> Iterator[bytes]:
    """What a gzip stream holds, in pieces of at most 1 MiB; several streams in a row are one.

    Raises:
        UntrustedError: it is no gzip, damaged, cut off, or holds more than `limit` bytes.
    """
    inflate, size, begun = None, 0, False
    for chunk in chunks:
        data = chunk
        while data or inflate is not None:
            if inflate is None:
                # gzip itself takes zeros after a stream for padding.
                data = data.lstrip(b"\0") if begun else data
                if not data:
                    break
                inflate, begun = isal_zlib.decompressobj(GZIP), True
            try:
                piece = inflate.decompress(data, AT_ONCE)
            except isal_zlib.error as error:  # type: ignore[misc]  # its stub takes the class for an instance
                raise UntrustedError(f"it is no gzip, or damaged: {error}") from error
            size += len(piece)
            if size > limit:
                raise UntrustedError(f"it holds more than {limit} bytes")
            if piece:
                yield piece
            data = inflate.unconsumed_tail
            if inflate.eof:
                data, inflate = inflate.unused_data, None
            elif not data and len(piece) < AT_ONCE:
                break
    if inflate is not None or not begun:
        raise UntrustedError("it is cut off: the end of its gzip stream is missing")
