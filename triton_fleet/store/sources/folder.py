"""Line ends of text files: git writes CRLF in one clone and LF in another, and an archive has LF."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from isal import isal_zlib

from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.copies import check_copyable
from triton_fleet.repository.file_formats import lfs_finding, lfs_size
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.reading.file_store import PLAN, TEXTS, kind_of
from triton_fleet.repository.reading.folder import changed_while_read, read_folder
from triton_fleet.store.archive import Checksums, Entry, crc_text, write_tar
from triton_fleet.store.sources.source import RepositorySource

TEXT = {
    *(".cfg", ".csv", ".ini", ".json", ".jsonl", ".md", ".pbtxt", ".py", ".sh"),
    *(".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml"),
}
"""Endings of names of text to whose readers both line ends are the same, or LF is the right one in Linux."""
MAX_BYTES = 64 << 20
"""Of a file that is compared with other line ends."""


def is_text(name: str) -> bool:
    """Whether a file of that name is text, unless it has a zero byte."""
    return PurePosixPath(name).suffix in TEXT


def lf_size(name: str, chunks: Callable[[], Iterator[bytes]]) -> int | None:
    """The bytes that a text file has with LF for CRLF; None of one that is packed as it is."""
    if not is_text(name):
        return None
    before = after = 0

    def count_chunks() -> Iterator[bytes]:
        nonlocal before
        for chunk in chunks():
            before += len(chunk)
            yield chunk

    for chunk in without_cr(count_chunks()):
        if b"\0" in chunk:  # UTF-16, or no text
            return None
        after += len(chunk)
    return after if after != before else None


def without_cr(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same text with LF for CRLF; another CR stays."""
    pending_cr = b""
    for chunk in chunks:
        text = pending_cr + chunk
        pending_cr = b"\r" if text.endswith(b"\r") else b""
        yield text.removesuffix(pending_cr).replace(b"\r\n", b"\n")
    if pending_cr:
        yield pending_cr


def differs_in_line_ends(file: Path, checksum: str) -> bool:
    """Whether a file would have that checksum, `crc32:00c0ffee`, with other line ends."""
    try:
        if file.stat().st_size > MAX_BYTES:
            return False
        content = file.read_bytes()
    except OSError:
        return False
    with_lf = content.replace(b"\r\n", b"\n")
    return b"\0" not in content and any(
        crc_text(isal_zlib.crc32(variant)) == checksum
        for variant in (with_lf, with_lf.replace(b"\n", b"\r\n"))
    )


CHUNK = 1 << 20
SINGLE = ServingContainer()


class FolderSource(RepositorySource):
    """The files of a folder, sorted, without hidden ones; they are listed once, and small ones read once."""

    has_fast_layout = True

    def __init__(self, contents: Contents, container: ServingContainer = SINGLE) -> None:
        super().__init__(container)
        self.contents = contents

    @classmethod
    def of(cls, folder: Path, container: ServingContainer = SINGLE) -> FolderSource:
        """Read a folder.

        Raises:
            FindingsError: it cannot be listed.
        """
        return cls(read_folder(folder, is_packed=True), container)

    @cached_property
    def copyable_models(self) -> tuple[str, ...]:
        """The model directories, which copies can rename.

        Raises:
            FindingsError: as `served_models`, or a copy would refer to a model by its old name.
        """
        models = self.served_models()
        check_copyable(self.contents, models)
        return models

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream.

        Raises:
            FindingsError: an entry is neither folder nor file, cannot be read, or changes while it is read.
        """
        return write_tar(self.entries(), sink)

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order.

        Raises:
            FindingsError: one is neither folder nor file, or cannot be read.
        """
        if errors := [finding for finding in self.contents.findings if finding.severity is Severity.ERROR]:
            raise FindingsError(errors)
        for path, size in self.contents.packed_entries:
            yield self.entry(path, size)

    def entry(self, path: str, size: int | None, name: str = "") -> Entry:
        """A folder or a file, under another name if one is given; a small text is not read again."""
        kind, head = kind_of(path), self.contents.texts.get(path, b"")
        file, is_text = self.contents.file(path), kind in TEXTS and path in self.contents.texts
        entry = file_entry(file, name or path, size, head if is_text else None)
        chunks = entry.chunks
        if kind != PLAN or chunks is None:
            return entry
        # The lock knows the plan by the head that was read before.
        return replace(entry, chunks=lambda: _with_head(chunks(), head, file))


def _with_head(chunks: Iterator[bytes], head: bytes, file: Path) -> Iterator[bytes]:
    """The chunks of a file, if they begin as they did before."""
    for number, chunk in enumerate(chunks):
        if not number and not chunk.startswith(head):
            raise FindingsError([changed_while_read(file)])
        yield chunk


def file_entry(file: Path, name: str, size: int | None, content: bytes | None = None) -> Entry:
    """A file of so many bytes as an entry of an archive; text with the line ends that it has in Linux.

    A folder has no size. `content` is that of a small text that was read before. The chunks raise a
    FindingsError if the file changes, cannot be read, or only stands for a file in Git LFS.

    Raises:
        FindingsError: the file is text, and no longer exists, or cannot be read.
    """
    if size is None:
        return Entry(name)
    if size <= CHUNK and is_text(file.name):  # read once
        read = read_chunks(file, size) if content is None else iter((content,))
        content = b"".join(_fetched_chunks(file, read))
        text = content if b"\0" in content else content.replace(b"\r\n", b"\n")
        return Entry(name, len(text), lambda: iter((text,)))
    with_lf = lf_size(file.name, lambda: read_chunks(file, size))
    if with_lf is None:
        return Entry(name, size, lambda: _fetched_chunks(file, read_chunks(file, size)))
    return Entry(name, with_lf, lambda: _lf_chunks(file, size, with_lf))


def _fetched_chunks(file: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The file's bytes, unless it only stands for one in Git LFS."""
    for number, chunk in enumerate(chunks):
        if not number and (lfs_bytes := lfs_size(chunk)) is not None:
            raise FindingsError([lfs_finding(file, lfs_bytes)])
        yield chunk


def _lf_chunks(file: Path, size: int, with_lf: int) -> Iterator[bytes]:
    """The bytes of a text file of `size` bytes with LF for CRLF, `with_lf` of them."""
    remainder = with_lf
    for chunk in without_cr(read_chunks(file, size)):
        remainder -= len(chunk)
        if remainder < 0:
            break
        yield chunk
    if remainder:
        raise FindingsError([changed_while_read(file)])


def read_chunks(file: Path, size: int) -> Iterator[bytes]:
    """The file's bytes, `size` of them.

    Raises:
        FindingsError: its size differs, it is written meanwhile, or it cannot be read.
    """
    with _report_read_errors(file), file.open("rb", buffering=0) as content:
        before, read = os.fstat(content.fileno()), 0
        while chunk := content.read(CHUNK):
            read += len(chunk)
            if read > size:
                break
            yield chunk
        after = os.fstat(content.fileno())
    if read != size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise FindingsError([changed_while_read(file)])


@contextmanager
def _report_read_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise FindingsError([changed_while_read(file)]) from error
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL406", message=message, file=file)]) from error
