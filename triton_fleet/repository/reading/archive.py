"""A model repository in an archive, read as one stream and trusted in nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.contents import Contents, Entry, EntryKind
from triton_fleet.repository.entry_path import NO_TEXT, belongs, path_problem, plain_path, require_plain
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.file_store import FileStore
from triton_fleet.repository.reading.gunzip import MAGIC, MAX_SIZE, ArchiveTooLargeError, Bounds, gunzip
from triton_fleet.repository.reading.paths import FOLDER, TooManyError
from triton_fleet.repository.reading.tar import Member, is_at_end, members
from triton_fleet.repository.stream import ChunkStream, CutOffError, FileStream, Stream, UnreadableError

OTHER_FORMATS = {
    b"PK\3\4": "a zip archive",
    b"PK\5\6": "a zip archive",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\0": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
}
"""First bytes of what SageMaker does not unpack."""
MAX_MAGIC = max(map(len, OTHER_FORMATS))
REPACK_HINT = "make it again: `tar -C REPOSITORY --exclude='.[!.]*' -czf ARCHIVE .`"


def read_archive(file: Path) -> Contents:
    """The content of a tar archive, compressed by gzip or not.

    Raises:
        FindingsError: it cannot be opened, is another kind of archive, or none.
    """
    try:
        with file.open("rb", buffering=0) as content:
            return _read(file, content, file.stat().st_size)
    except OSError as error:
        message = f"the archive cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL406", message=message, file=file)]) from error


def strict_members(
    archive_stream: Stream, collector: Collector, write: Callable[[bytes], object]
) -> Iterator[tuple[str, Member]]:
    """The folders and files of a .tar.gz that is used as it is, by their paths; each once and nothing else.

    `collector` gets them before they come; it must be one with unique paths. `write` gets the tar stream.

    Raises:
        UnreadableError: the archive is not a .tar.gz, is damaged, or has what a packed folder never has.
    """
    bounds = Bounds(packed_size=MAX_SIZE)  # its spec has its digest, so its size counts and not the ratio
    stream = ChunkStream(gunzip(archive_stream, bounds, is_required=True).pieces(), write)
    for member in members(stream, bounds, strict=True):
        if member.what:
            raise UnreadableError(f"{member.path!r} is {member.what}")
        # `tar -C FOLDER .` puts "./" in front of all names, and writes the root itself as "./".
        path = member.path.rstrip("/") if member.is_folder else member.path
        if path == "." and member.is_folder:
            continue
        path = path.removeprefix("./")
        require_plain(path)
        if not all(map(belongs, path.split("/"))):
            raise UnreadableError(
                f"{path!r} is hidden or was left by Python, and does not belong in a repository"
            )
        collector.add(path, FOLDER if member.is_folder else Entry(EntryKind.FILE, member.content.size))
        yield path, member


def _read(file: Path, content: BinaryIO, size: int) -> Contents:
    stream = FileStream(content, size)
    head = stream.peek(MAX_MAGIC)
    for magic, name in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise _refusal(file, f"it is {name}")
    collector, bounds = Collector(file, archive=True), Bounds(packed_size=size)
    if not head.startswith(MAGIC):
        message = "the archive is not compressed with gzip, which SageMaker requires"
        collector.notes.add("FL440", message, hint=REPACK_HINT, severity=Severity.WARNING)
    _Archive(collector, gunzip(stream, bounds), bounds).read()
    return collector.contents()


def _refusal(file: Path, problem: str) -> FindingsError:
    message = f"the archive cannot be read: {problem}"
    return FindingsError([Finding(code="FL440", message=message, file=file, hint=REPACK_HINT)])


class _Archive:
    def __init__(self, collector: Collector, stream: Stream, bounds: Bounds) -> None:
        self._collector, self._notes = collector, collector.notes
        self._stream, self._bounds = stream, bounds
        self._store = FileStore(collector, bounds)

    def read(self) -> None:
        is_any = False
        try:
            for member in members(self._stream, self._bounds):
                is_any = True
                self._take(member)
        except (ArchiveTooLargeError, TooManyError) as error:
            self._notes.add("FL443", f"the rest of the archive is not checked: {error}", hint=REPACK_HINT)
            return
        except UnreadableError as error:
            if not is_any:
                raise _refusal(self._collector.place, str(error)) from error
            self._notes.add("FL440", f"the rest of the archive cannot be read: {error}", hint=REPACK_HINT)
            return
        self._end()

    def _end(self) -> None:
        """Read the rest after the end: nothing, or zeros."""
        try:
            if not is_at_end(self._stream):
                message = "the archive has data after its end, which is ignored"
                self._notes.add("FL440", message, hint=REPACK_HINT, severity=Severity.WARNING)
        except CutOffError as error:
            self._notes.add("FL440", f"the archive cannot be read to its end: {error}", hint=REPACK_HINT)
        except ArchiveTooLargeError as error:
            self._notes.add("FL443", f"the rest of the archive is not checked: {error}", hint=REPACK_HINT)
        except UnreadableError as error:
            message = f"the data after the end of the archive is damaged: {error}"
            self._notes.add("FL440", message, hint=REPACK_HINT, severity=Severity.WARNING)

    def _take(self, member: Member) -> None:
        path = plain_path(member.path)
        if problem := path_problem(member.path):
            code = "FL414" if NO_TEXT.search(member.path) else "FL441"
            self._notes.add(code, f"{member.path!r} {problem}", hint=REPACK_HINT)
        elif member.what:
            kind = EntryKind.LINK if "link" in member.what else EntryKind.SPECIAL
            if self._collector.add(path, Entry(kind)):
                message = f"{path!r} is {member.what}; only folders and files are trusted"
                self._notes.add("FL403", message, path, "put the file itself there")
        elif member.is_folder:
            if path:
                self._collector.add(path, FOLDER)
        elif self._collector.add(path, Entry(EntryKind.FILE, member.content.size)):
            self._store.read(path, member.content.size, member.content)
