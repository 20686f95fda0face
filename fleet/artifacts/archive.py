"""A model repository as a tar stream whose bytes depend on nothing but its content."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path
from typing import IO

from fleet.repository.layout import entries

FILE_MODE, FOLDER_MODE = 0o644, 0o755


class DigestWriter:
    """Counts and digests what is written, and passes it on where there is a sink."""

    def __init__(self, sink: IO[bytes] | None = None) -> None:
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


def write_tar(repository: Path, sink: DigestWriter) -> None:
    """Write the repository's tar stream: sorted, without times, owners or hidden files.

    The repository is the archive's root, as the container of a single-model endpoint wants it.
    """
    with tarfile.open(mode="w|", fileobj=sink, format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
        for entry in entries(repository):
            info = tarfile.TarInfo(entry.relative_to(repository).as_posix())
            if entry.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, FOLDER_MODE
                tar.addfile(info)
                continue
            with entry.open("rb") as content:
                info.mode, info.size = FILE_MODE, entry.stat().st_size
                tar.addfile(info, content)


def measure(repository: Path) -> DigestWriter:
    """Digest and size of the repository's tar stream, without keeping it."""
    writer = DigestWriter()
    write_tar(repository, writer)
    return writer
