"""A model repository in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fleet.artifacts.archive import Checksums, Entry, Sink, write_tar
from fleet.artifacts.model_facts import model_facts
from fleet.artifacts.sources.line_ends import is_text, lf_size, without_cr
from fleet.findings import Finding, FindingsError, Severity
from fleet.repository.contents import Contents
from fleet.repository.loading.container import ServingContainer
from fleet.repository.loading.load_plan import LoadPlan, plan_load
from fleet.repository.reading.file_store import TEXTS, kind_of
from fleet.repository.reading.folder import read_folder
from fleet.repository.reading.lfs import lfs_finding, lfs_size
from fleet.spec.lock import LockedModel

CHUNK = 1 << 20
SINGLE = ServingContainer()


@dataclass(frozen=True)
class FolderSource:
    """The files of a folder, sorted, without hidden ones; they are listed once, and the small ones read once.

    `container` is the one that is to serve it.
    """

    contents: Contents
    container: ServingContainer = SINGLE

    @classmethod
    def of(cls, folder: Path, container: ServingContainer = SINGLE) -> FolderSource:
        """Read a folder.

        Raises:
            FindingsError: it cannot be listed.
        """
        return cls(read_folder(folder, packed=True), container)

    @cached_property
    def plan(self) -> LoadPlan:
        """What the container makes of it."""
        return plan_load(self.contents, self.container)

    def served_models(self) -> tuple[str, ...]:
        """The model directories.

        Raises:
            FindingsError: the folder cannot be packed, or the container could not serve it.
        """
        if refusals := self.plan.refusals:
            raise FindingsError(refusals)
        return tuple(self.contents.folders())

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
        if errors := [each for each in self.contents.findings if each.severity is Severity.ERROR]:
            raise FindingsError(errors)
        for path, size in self.contents.packed_entries:
            is_whole = kind_of(path) in TEXTS
            content = self.contents.texts.get(path) if is_whole else None
            yield file_entry(self.contents.file(path), path, size, content)

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of the models that the container serves; with sizes as `write` has packed them.

        Raises:
            FindingsError: as `served_models`.
        """
        return model_facts(self.contents, self.served_models(), checksums.sizes if checksums else None)


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
