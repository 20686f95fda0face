"""An untrusted tar stream, read in one pass, in a fixed amount of memory.

`tarfile` reads names and headers of any length into memory and follows them back and forth. Only its parsing
of one header is used. Formats: POSIX pax and ustar
(https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html), GNU tar's long names and sparse files.
"""

from __future__ import annotations

import re
import stat
import tarfile
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from triton_fleet.repository.entry_path import NO_TEXT
from triton_fleet.repository.file_formats import IS_POINTER, is_pointer
from triton_fleet.repository.reading.gunzip import Bounds
from triton_fleet.repository.stream import CutOffError, Part, Stream, UnreadableError

BLOCK = tarfile.BLOCKSIZE
MAX_HEADER = 1 << 20
"""Bytes of a header that extends another's."""
MAX_HEADERS = 10
"""Headers before one entry: a program writes at most three."""
EXTENSION_TYPES = {
    tarfile.XHDTYPE: "",
    tarfile.XGLTYPE: "",
    tarfile.GNUTYPE_LONGNAME: "path",
    tarfile.GNUTYPE_LONGLINK: "linkpath",
}
"""Headers that extend the next one's, with what GNU's give."""
KIND_NAMES = {
    tarfile.REGTYPE: "",
    tarfile.AREGTYPE: "",
    tarfile.CONTTYPE: "",
    tarfile.DIRTYPE: "",
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}
WITHOUT_CONTENT = (
    tarfile.DIRTYPE,
    tarfile.LNKTYPE,
    tarfile.SYMTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.FIFOTYPE,
)
CUT_OFF, NO_UTF8 = "its tar stream is cut off", "it has a name that is not UTF-8"
RECORD = re.compile(rb"([1-9]\d{0,6}) ([^=\0]+)=")
HAS_MORE, HAS_MORE_LATER = 482, 504
"""The offsets of the flag for another block: in the header of a sparse file, and in each further block."""


class Member(NamedTuple):
    """An entry as it is named; `what` is "" of a file and of a folder, else what it is instead.

    `is_executable` is whether its owner may execute it, `mode` its permissions, `target` where a link leads.
    """

    path: str
    is_folder: bool
    is_executable: bool
    what: str
    content: Part
    mode: int
    target: str


def members(stream: Stream, bounds: Bounds, *, strict: bool = False) -> Iterator[Member]:
    """The entries, each with its content, which is gone when the next is asked for.

    Args:
        stream: The tar stream.
        bounds: What may be unpacked.
        strict: Whether to refuse what no program writes and programs may read in different ways: several
            headers that name one entry, names and keys that are not UTF-8, and a stream without its end or
            with data after it.

    Raises:
        TooLargeError: there are more than `bounds` lets through.
        UnreadableError: it is not a tar stream, or a damaged one, or cut off.
    """
    if not strict:
        _require_begin(stream)
    while (block := stream.read_exact(BLOCK)) and block.count(0) != BLOCK:
        bounds.enter()
        header = _header(block, strict)
        extensions: dict[str, str] = {}
        names = 0
        for _ in range(MAX_HEADERS):
            if header.type not in EXTENSION_TYPES:
                break
            names += header.type != tarfile.XGLTYPE
            if strict and names > 1:
                raise UnreadableError("its tar stream names one entry twice")
            extensions |= _extension(stream, header, strict)
            block = _whole(stream, BLOCK)
            if block.count(0) == BLOCK:
                raise UnreadableError("its tar stream ends after the name of an entry")
            header = _header(block, strict)
        else:
            raise UnreadableError(f"its tar stream has more than {MAX_HEADERS} headers for one entry")
        if header.type == tarfile.GNUTYPE_SPARSE:
            _pass_map(stream, block)
        member = _member(stream, header, extensions, strict)
        yield member
        if not member.content.end():
            raise CutOffError(CUT_OFF)
        _whole(stream, -member.content.size % BLOCK)
    if strict and not block:
        raise CutOffError(CUT_OFF)
    if strict and not is_at_end(stream):
        raise UnreadableError("its tar stream continues after its end")


def is_at_end(stream: Stream) -> bool:
    """Whether nothing but zeros follows; reads them."""
    return all(rest.count(0) == len(rest) for rest in stream.pieces())


def _require_begin(stream: Stream) -> None:
    if is_pointer(stream):
        raise UnreadableError(IS_POINTER)
    if len(stream.peek(BLOCK)) < BLOCK:
        raise UnreadableError("it holds no tar stream" if stream.peek(1) else "it is empty")


def _header(block: bytes, strict: bool) -> tarfile.TarInfo:
    if len(block) < BLOCK:
        raise CutOffError(CUT_OFF)
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "strict" if strict else "surrogateescape")
    except UnicodeDecodeError as error:
        raise UnreadableError(NO_UTF8) from error
    except (tarfile.HeaderError, ValueError) as error:
        raise UnreadableError(f"it holds no tar stream, or a damaged one: {error}") from error


def _member(stream: Stream, header: tarfile.TarInfo, extensions: Mapping[str, str], strict: bool) -> Member:
    path, size = extensions.get("path", header.name), extensions.get("size", str(header.size))
    kind = KIND_NAMES.get(header.type, "neither a folder nor a file")
    if extensions and any(key.startswith("GNU.sparse.") for key in extensions):
        path, kind = extensions.get("GNU.sparse.name", path), "a sparse file"
    # Programs do not agree on whether an entry that is not a file may have content.
    if not re.fullmatch(r"[0-9]{1,15}", size) or (int(size) and header.type in WITHOUT_CONTENT):
        raise UnreadableError(f"its tar stream gives {path!r} a size of {size!r}")
    is_folder = header.isdir() or (not strict and not kind and path.endswith("/"))
    target = extensions.get("linkpath", header.linkname)
    return Member(
        path=path,
        is_folder=is_folder,
        is_executable=bool(header.mode & stat.S_IXUSR),
        what=kind,
        content=Part(stream, int(size)),
        mode=stat.S_IMODE(header.mode),
        target=target,
    )


def _pass_map(stream: Stream, block: bytes) -> None:
    more = block[HAS_MORE]
    while more:
        more = _whole(stream, BLOCK)[HAS_MORE_LATER]


def _extension(stream: Stream, header: tarfile.TarInfo, strict: bool) -> dict[str, str]:
    if not 0 <= header.size <= MAX_HEADER:
        raise UnreadableError(f"a header of its tar stream has {header.size} bytes")
    if strict and header.type == tarfile.GNUTYPE_LONGLINK:
        raise UnreadableError(f"{header.name!r} is a link")
    data = _whole(stream, header.size)
    _whole(stream, -header.size % BLOCK)
    if key := EXTENSION_TYPES[header.type]:
        return {key: _text(data.partition(b"\0")[0])}
    records = dict[str, str]()
    for key, value in _records(data):
        if strict and key in records:
            raise UnreadableError(f"a pax header of its tar stream gives {key!r} twice")
        if strict and NO_TEXT.search(key):
            raise UnreadableError(NO_UTF8)
        records[key] = value
    if header.type == tarfile.XHDTYPE:
        return records
    if wrong := [key for key in records if key in ("path", "size") or key.startswith("GNU.sparse.")]:
        raise UnreadableError(f"its tar stream gives one {wrong[0]!r} to all entries")
    return {}


def _whole(stream: Stream, size: int) -> bytes:
    data = stream.read_exact(size)
    if len(data) < size:
        raise CutOffError(CUT_OFF)
    return data


def _records(data: bytes) -> Iterator[tuple[str, str]]:
    """The records of a pax header: `LENGTH KEY=VALUE` and a line feed, LENGTH being that of all of it."""
    at = 0
    while at < len(data):
        match = RECORD.match(data, at)
        end = at + int(match[1]) if match else 0
        if match is None or not match.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise UnreadableError("a pax header of its tar stream is damaged")
        yield _text(match[2]), _text(data[match.end() : end - 1])
        at = end


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
