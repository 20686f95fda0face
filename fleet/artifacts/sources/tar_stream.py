"""Reads an untrusted tar stream as it passes, in a fixed amount of memory.

`tarfile` reads names and headers of any length into memory, seeks back and forth, and does not define what
follows the end. Only its parser of one header is used. Formats: POSIX pax and ustar
(https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html) and GNU tar's long names.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass

from fleet.artifacts.archive import Sink
from fleet.artifacts.sources.tree import UntrustedError
from fleet.repository.reading.tar import WHAT

BLOCK = tarfile.BLOCKSIZE
MAX_HEADER = 1 << 20
"""The most bytes of a header that extends another one."""
REFUSED = {**WHAT, tarfile.GNUTYPE_LONGLINK: "a link"}
RECORD = re.compile(rb"([1-9]\d{0,6}) ([^=\0]+)=")


@dataclass(frozen=True)
class TarEntry:
    """A folder or a file; the path of the archive's root is ""."""

    path: str
    is_folder: bool
    size: int


class SinkStream:
    """Bytes that are read in any sizes; all are passed to a sink as they come."""

    def __init__(self, chunks: Iterator[bytes], sink: Sink) -> None:
        self._chunks, self._sink = chunks, sink
        self._chunk, self._at = b"", 0

    def piece(self, most: int) -> bytes:
        """At least one byte and not more than `most`; none at the end."""
        while self._at == len(self._chunk):
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._sink.write(chunk)
            self._chunk, self._at = chunk, 0
        piece = self._chunk[self._at : self._at + most]
        self._at += len(piece)
        return piece

    def pieces(self, size: int) -> Iterator[bytes]:
        """Exactly so many bytes.

        Raises:
            UntrustedError: the stream has fewer.
        """
        while size:
            piece = self.piece(size)
            if not piece:
                raise UntrustedError("its tar stream is cut off")
            size -= len(piece)
            yield piece

    def read_exactly(self, size: int) -> bytes:
        """So many bytes, in one piece."""
        return b"".join(self.pieces(size))


def tar_entries(stream: SinkStream) -> Iterator[tuple[TarEntry, Iterator[bytes]]]:
    """Folders and files with their contents, which must be read before the next entry; reads to the end.

    Raises:
        UntrustedError: it is not a tar stream, is cut off, continues after its end, or has other entries.
    """
    extended: dict[str, str] | None = None
    while (block := stream.read_exactly(BLOCK)) != bytes(BLOCK):
        header = _header(block)
        if header.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
            data = _extension(stream, header.size)
            if header.type == tarfile.XGLTYPE:
                _refuse_names(_records(data))
                continue
            if extended is not None:
                raise UntrustedError("its tar stream names one entry twice")
            is_pax = header.type == tarfile.XHDTYPE
            extended = _records(data) if is_pax else {"path": _text(data.partition(b"\0")[0])}
            continue
        entry = _entry(header, extended or {})
        extended = None
        yield entry, stream.pieces(entry.size)
        stream.read_exactly(-entry.size % BLOCK)
    if extended is not None:
        raise UntrustedError("its tar stream ends after the name of an entry")
    while rest := stream.piece(MAX_HEADER):
        if rest.count(0) != len(rest):
            raise UntrustedError("its tar stream continues after its end")


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    except tarfile.HeaderError as error:
        raise UntrustedError(f"it is not a tar stream, or a damaged one: {error}") from error
    except UnicodeDecodeError as error:
        raise UntrustedError("it has a name that is not UTF-8") from error


def _entry(header: tarfile.TarInfo, extended: dict[str, str]) -> TarEntry:
    path, size = extended.get("path", header.name), extended.get("size", str(header.size))
    if what := REFUSED.get(header.type, "neither a folder nor a file"):
        raise UntrustedError(f"{path!r} is {what}")
    if any(key.startswith("GNU.sparse.") for key in extended):
        raise UntrustedError(f"{path!r} is a sparse file")
    if not re.fullmatch(r"[0-9]{1,15}", size) or (header.isdir() and int(size)):
        raise UntrustedError(f"{path!r} has a size of {size!r}")
    # `tar -C FOLDER .` puts "./" in front of all names, and writes the root itself as "./".
    path = path.rstrip("/") if header.isdir() else path
    return TarEntry("" if path == "." else path.removeprefix("./"), header.isdir(), int(size))


def _extension(stream: SinkStream, size: int) -> bytes:
    if not 0 <= size <= MAX_HEADER:
        raise UntrustedError(f"a header of its tar stream has {size} bytes")
    data = stream.read_exactly(size)
    stream.read_exactly(-size % BLOCK)
    return data


def _records(data: bytes) -> dict[str, str]:
    """The records of a pax header: `LENGTH KEY=VALUE` and a line feed, LENGTH being that of all of it."""
    records: dict[str, str] = {}
    at = 0
    while at < len(data):
        match = RECORD.match(data, at)
        end = at + int(match[1]) if match else 0
        if match is None or not match.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise UntrustedError("a pax header of its tar stream is damaged")
        key = _text(match[2])
        if key in records:
            raise UntrustedError(f"a pax header of its tar stream gives {key!r} twice")
        records[key] = _text(data[match.end() : end - 1]) if key in ("path", "size") else ""
        at = end
    return records


def _refuse_names(records: dict[str, str]) -> None:
    if wrong := [key for key in records if key in ("path", "size") or key.startswith("GNU.sparse.")]:
        raise UntrustedError(f"its tar stream gives one {wrong[0]!r} to all entries")


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise UntrustedError("it has a name that is not UTF-8") from error
