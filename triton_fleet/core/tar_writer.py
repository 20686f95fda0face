"""Tar streams whose bytes depend on their content only: without times and owners."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol


class Sink(Protocol):
    """An object that takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""


def write_member(
    sink: Sink,
    path: str,
    kind: bytes,
    mode: int,
    *,
    size: int = 0,
    target: str = "",
    chunks: Iterable[bytes] = (),
) -> int:
    """Write one entry; return its bytes with the padding of the last block.

    Args:
        sink: Takes the bytes.
        path: The entry's path.
        kind: Its type, one of `tarfile`'s constants.
        mode: Its permissions.
        size: Bytes of a file.
        target: Where a link leads.
        chunks: The content of a file, of exactly `size` bytes.
    """
    header = _header(path, kind, mode, size, target)
    sink.write(header)
    for chunk in chunks:
        sink.write(chunk)
    rest = -size % tarfile.BLOCKSIZE
    sink.write(bytes(rest))
    return len(header) + size + rest


def write_end(size: int, sink: Sink) -> None:
    """Write the end of a tar stream of so many bytes."""
    end = 2 * tarfile.BLOCKSIZE
    sink.write(bytes(end + -(size + end) % tarfile.RECORDSIZE))


@lru_cache(maxsize=1024)
def _header(path: str, kind: bytes, mode: int, size: int, target: str) -> bytes:
    """The header of an entry; making one costs more time than the digest of a small file."""
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.size, info.linkname = kind, mode, size, target
    return info.tobuf(tarfile.PAX_FORMAT)
