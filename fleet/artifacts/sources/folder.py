"""A model repository in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fleet.artifacts.archive import Checksums, Entry, Sink, write_tar
from fleet.findings import Finding, FindingsError
from fleet.repository.layout import entries
from fleet.repository.served import served_models
from fleet.spec.endpoint import Mode

CHUNK = 1 << 20


class FolderSource:
    """The files of a folder, sorted, without hidden ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream.

        Raises:
            FindingsError: an entry is neither folder nor file, or a file changes while it is read.
        """
        return write_tar((self._entry(path) for path in entries(self.folder)), sink)

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories.

        Raises:
            FindingsError: the container could not serve them.
        """
        return served_models(self.folder, multi_model=mode is Mode.MULTI_MODEL)

    def _entry(self, file: Path) -> Entry:
        path = file.relative_to(self.folder).as_posix()
        if file.is_dir():
            return Entry(path)
        size = file.stat().st_size
        return Entry(path, size, lambda: read_chunks(file, size))


def read_chunks(file: Path, size: int) -> Iterator[bytes]:
    """The file's bytes, `size` of them.

    Raises:
        FindingsError: it is longer or shorter, or is written to meanwhile.
    """
    with file.open("rb", buffering=0) as content:
        before, read = os.fstat(content.fileno()), 0
        while chunk := content.read(CHUNK):
            read += len(chunk)
            if read > size:
                break
            yield chunk
        after = os.fstat(content.fileno())
    if read != size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        message = "the file changed while it was read"
        hint = "wait until it is written, then run the command again"
        raise FindingsError([Finding(code="FL305", message=message, hint=hint, file=file)])
