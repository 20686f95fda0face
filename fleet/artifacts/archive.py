"""A model repository as a tar stream whose bytes depend on nothing but its content."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from isal import isal_zlib

FILE_MODE, FOLDER_MODE = 0o644, 0o755
ONNX = ".onnx"


class Sink(Protocol):
    """Whatever takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""


class DigestWriter:
    """Counts and digests what is written, and passes it on where there is a sink."""

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Take the next bytes of the stream."""
        self._hash.update(data)
        self.size += len(data)
        if self._sink is not None:
            self._sink.write(data)
        return len(data)

    @property
    def digest(self) -> str:
        """`sha256:` and the hexadecimal digest of all bytes so far."""
        return f"sha256:{self._hash.hexdigest()}"


@dataclass(frozen=True)
class Entry:
    """A folder or a file of an archive; `chunks` yields exactly `size` bytes, and raises where it cannot."""

    path: str
    size: int = 0
    chunks: Callable[[], Iterator[bytes]] | None = None


@dataclass(frozen=True)
class Checksums:
    """What is remembered of a stream's files, by path: a CRC-32 of each, the digest of those of ONNX."""

    files: dict[str, str] = field(default_factory=dict)
    onnx: dict[str, str] = field(default_factory=dict)


def write_tar(entries: Iterable[Entry], sink: Sink) -> Checksums:
    """Write a tar stream: without times and owners, and with the order of the entries.

    The entries' paths are relative to the archive's root, which is the model repository, as the container of
    a single-model endpoint wants it.
    """
    checksums, size = Checksums(), 0
    for entry in entries:
        header = _header(entry)
        sink.write(header)
        size += len(header)
        if entry.chunks is not None:
            _write_file(entry, entry.chunks(), sink, checksums)
            rest = -entry.size % tarfile.BLOCKSIZE
            sink.write(bytes(rest))
            size += entry.size + rest
    end = 2 * tarfile.BLOCKSIZE
    sink.write(bytes(end + -(size + end) % tarfile.RECORDSIZE))
    return checksums


def _write_file(entry: Entry, chunks: Iterator[bytes], sink: Sink, checksums: Checksums) -> None:
    crc, digest = 0, hashlib.sha256() if entry.path.endswith(ONNX) else None
    for chunk in chunks:
        sink.write(chunk)
        crc = isal_zlib.crc32(chunk, crc)
        if digest is not None:
            digest.update(chunk)
    checksums.files[entry.path] = f"crc32:{crc:08x}"
    if digest is not None:
        checksums.onnx[entry.path] = f"sha256:{digest.hexdigest()}"


def _header(entry: Entry) -> bytes:
    info = tarfile.TarInfo(entry.path)
    if entry.chunks is None:
        info.type, info.mode = tarfile.DIRTYPE, FOLDER_MODE
    else:
        info.size, info.mode = entry.size, FILE_MODE
    return info.tobuf(tarfile.PAX_FORMAT)
