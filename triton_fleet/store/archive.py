"""The tar stream of an archive: its entries and checksums, and the stream as gzip."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol

from isal import igzip, igzip_threaded, isal_zlib

from triton_fleet.core.tar_writer import Sink, write_end, write_member

FILE_MODE, FOLDER_MODE = 0o644, 0o755
ONNX = ".onnx"


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


class EntrySource(Protocol):
    """A model repository somewhere, as a tar stream and as the entries in it."""

    def write(self, sink: Sink) -> Checksums:
        """Write the whole tar stream; the same bytes each time.

        Raises:
            FindingsError: it cannot be packed, or changes while it is read.
        """

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order; the content of each is read before the next is.

        Raises:
            FindingsError: as for `write`.
        """


@dataclass(frozen=True)
class Checksums:
    """Facts of a stream's files, by path: a CRC-32 of each, and the digests of ONNX files.

    `folders` are the paths of its folders, `sizes` the bytes of each file as it is packed.
    """

    files: dict[str, str] = field(default_factory=dict)
    onnx: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)

    def observe(self, entry: Entry) -> Iterator[bytes]:
        """Pass the chunks of a file through, and record the file after the last one; a folder has none."""
        path = entry.path
        if entry.chunks is None:
            self.folders.add(path)
            return
        crc, digest = 0, hashlib.sha256() if path.endswith(ONNX) else None
        for chunk in entry.chunks():
            yield chunk
            crc = isal_zlib.crc32(chunk, crc)
            if digest is not None:
                digest.update(chunk)
        self.files[path], self.sizes[path] = crc_text(crc), entry.size
        if digest is not None:
            self.onnx[path] = f"sha256:{digest.hexdigest()}"


def crc_text(crc: int) -> str:
    """A CRC-32 as a lock has it."""
    return f"crc32:{crc:08x}"


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
    is_folder = entry.chunks is None
    kind, mode = (tarfile.DIRTYPE, FOLDER_MODE) if is_folder else (tarfile.REGTYPE, FILE_MODE)
    return write_member(sink, entry.path, kind, mode, size=entry.size, chunks=checksums.observe(entry))


PLACEHOLDER, PLACEHOLDER_CONTENT = "PLACEHOLDER", b"S3 keeps no empty folder; Triton wants this one.\n"
"""A file in each folder without files, such as an ensemble's version."""


def placeholders(files: Iterable[str], folders: Iterable[str]) -> list[str]:
    """The paths of the files that stand in folders without files, where each file is an object of its own."""
    empty_folders = set(folders)
    empty_folders -= {
        str(parent) for path in (*files, *empty_folders) for parent in PurePosixPath(path).parents
    }
    return [f"{folder}/{PLACEHOLDER}" for folder in sorted(empty_folders)]


LEVEL, THREADS = 1, 2
"""Weights hardly compress: higher levels cost time and save nothing (docs/decisions/0008)."""
MAX_UNTHREADED_BYTES = 4 << 20
"""Up to here, threads cost more than they save."""


def pack(write_stream: Callable[[Sink], object], sink: Sink, size: int) -> DigestWriter:
    """Compress a tar stream of `size` bytes; return its uncompressed digest and size.

    The same stream gives the same bytes on one type of processor: the header has no name and no time.
    """
    if size <= MAX_UNTHREADED_BYTES:
        whole = io.BytesIO()
        stream = DigestWriter(whole)
        write_stream(stream)
        sink.write(igzip.compress(whole.getvalue(), LEVEL, mtime=0))
        return stream
    valve = _Valve(sink)
    gzip_stream = igzip_threaded.open(valve, "wb", LEVEL, threads=THREADS)  # type: ignore[no-untyped-call]
    try:
        stream = DigestWriter(gzip_stream)
        write_stream(stream)
    except BaseException:
        valve.is_shut = True
        with suppress(Exception):  # the first error is the one to report
            gzip_stream.close()
        raise
    gzip_stream.close()
    return stream


class _ShutError(Exception):
    """Discard the rest of a broken stream."""


class _Valve:
    """Passes bytes on until it is shut, so that closing a broken stream writes nothing more."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.is_shut = False

    def write(self, data: bytes) -> int:
        if self.is_shut:
            raise _ShutError
        self._sink.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing to flush."""
