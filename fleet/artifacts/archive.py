"""A model repository as a tar stream whose bytes depend only on its content."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from isal import isal_zlib

from fleet.repository.kept_files import KeptFiles

FILE_MODE, FOLDER_MODE = 0o644, 0o755
ONNX = ".onnx"


class Sink(Protocol):
    """An object that takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""


class DigestWriter:
    """Counts and digests what is written, and passes it on to a sink, if there is one."""

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
    """A folder or a file of an archive; `chunks` yields exactly `size` bytes or raises."""

    path: str
    size: int = 0
    chunks: Callable[[], Iterator[bytes]] | None = None


@dataclass(frozen=True)
class Checksums:
    """What is kept of a stream's files, by path: a CRC-32 of each, and the digests of ONNX files.

    `sizes` has the bytes of each file as it is packed. `kept` has the files from which the facts of the
    models are derived, by the paths in the stream.
    """

    files: dict[str, str] = field(default_factory=dict)
    onnx: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    kept: KeptFiles = field(default_factory=KeptFiles)

    def observe(self, path: str, size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Pass the chunks of a file through, and record the file after the last one."""
        crc, digest = 0, hashlib.sha256() if path.endswith(ONNX) else None
        head, wanted = bytearray(), self.kept.add(path, size)
        for chunk in chunks:
            yield chunk
            crc = isal_zlib.crc32(chunk, crc)
            if digest is not None:
                digest.update(chunk)
            if len(head) < wanted:
                head += chunk[: wanted - len(head)]
        self.files[path], self.sizes[path] = f"crc32:{crc:08x}", size
        if digest is not None:
            self.onnx[path] = f"sha256:{digest.hexdigest()}"
        if wanted:
            self.kept.keep(path, bytes(head))


def write_tar(entries: Iterable[Entry], sink: Sink) -> Checksums:
    """Write a tar stream without times and owners, in the order of the entries.

    The entries' paths are relative to the archive's root, which is the model repository, as the container of
    a single-model endpoint requires.
    """
    checksums, size = Checksums(), 0
    for entry in entries:
        size += write_entry(entry, sink, checksums)
    write_end(size, sink)
    return checksums


def write_entry(entry: Entry, sink: Sink, checksums: Checksums) -> int:
    """Write one entry of a tar stream; return its bytes with the padding of the last block."""
    header = _header(entry.path, entry.size, is_folder=entry.chunks is None)
    sink.write(header)
    if entry.chunks is None:
        checksums.kept.add_folder(entry.path.rstrip("/"))
        return len(header)
    for chunk in checksums.observe(entry.path, entry.size, entry.chunks()):
        sink.write(chunk)
    rest = -entry.size % tarfile.BLOCKSIZE
    sink.write(bytes(rest))
    return len(header) + entry.size + rest


def write_end(size: int, sink: Sink) -> None:
    """Write the end of a tar stream of so many bytes."""
    end = 2 * tarfile.BLOCKSIZE
    sink.write(bytes(end + -(size + end) % tarfile.RECORDSIZE))


@lru_cache(maxsize=1024)
def _header(path: str, size: int, *, is_folder: bool) -> bytes:
    """The header of an entry; making one costs more time than the digest of a small file."""
    info = tarfile.TarInfo(path)
    if is_folder:
        info.type, info.mode = tarfile.DIRTYPE, FOLDER_MODE
    else:
        info.size, info.mode = size, FILE_MODE
    return info.tobuf(tarfile.PAX_FORMAT)
