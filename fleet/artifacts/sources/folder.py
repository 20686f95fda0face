"""A model repository in a folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from fleet.artifacts.archive import Checksums, Entry, write_tar
from fleet.artifacts.sources.line_ends import is_text, lf_size, without_cr
from fleet.core.tar_writer import Sink
from fleet.findings import Finding, FindingsError
from fleet.repository.layout import entries
from fleet.repository.loading.outcome import served_models
from fleet.repository.reading.lfs import lfs_finding, lfs_size
from fleet.spec.endpoint import Mode

CHUNK = 1 << 20


class FolderSource:
    """The files of a folder, sorted, without hidden ones; `built` are models that get their engine later."""

    def __init__(self, folder: Path, built: Collection[str] = ()) -> None:
        self.folder, self._built = folder, built

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
        for path, size in entries(self.folder):
            yield file_entry(self.folder / path, path, size)

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories.

        Raises:
            FindingsError: the container could not serve them.
        """
        return served_models(self.folder, multi_model=mode is Mode.MULTI_MODEL, built=self._built)


def file_entry(file: Path, name: str, size: int | None) -> Entry:
    """A file of so many bytes as an entry of an archive; text with the line ends that it has in Linux.

    A folder has no size. The chunks raise a FindingsError if the file changes, cannot be read, or only stands
    for a file in Git LFS.

    Raises:
        FindingsError: the file is text, and no longer exists, or cannot be read.
    """
    if size is None:
        return Entry(name)
    if size <= CHUNK and is_text(file.name):  # read once
        content = b"".join(_fetched_chunks(file, size))
        text = content if b"\0" in content else content.replace(b"\r\n", b"\n")
        return Entry(name, len(text), lambda: iter((text,)))
    with_lf = lf_size(file.name, lambda: read_chunks(file, size))
    if with_lf is None:
        return Entry(name, size, lambda: _fetched_chunks(file, size))
    return Entry(name, with_lf, lambda: _lf_chunks(file, size, with_lf))


def _fetched_chunks(file: Path, size: int) -> Iterator[bytes]:
    """The file's bytes, unless it only stands for one in Git LFS."""
    for number, chunk in enumerate(read_chunks(file, size)):
        if not number and (stored := lfs_size(chunk)) is not None:
            raise FindingsError([lfs_finding(file, stored)])
        yield chunk


def _lf_chunks(file: Path, size: int, with_lf: int) -> Iterator[bytes]:
    """The bytes of a text file of `size` bytes with LF for CRLF, `with_lf` of them."""
    left = with_lf
    for chunk in without_cr(read_chunks(file, size)):
        left -= len(chunk)
        if left < 0:
            break
        yield chunk
    if left:
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


def changed_while_read(file: Path) -> Finding:
    """The error for a file that is being written."""
    message = "the file changed while it was read"
    hint = "wait until its writer has finished, then run the command again"
    return Finding(code="FL305", message=message, hint=hint, file=file)
