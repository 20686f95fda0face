"""Yields the files of a tar stream while it is written."""

from __future__ import annotations

import os
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from isal import isal_zlib

from fleet.artifacts.archive import DigestWriter, Sink

CHUNK = 1 << 20


@dataclass(frozen=True)
class Contents:
    """The content of a tar stream: its digest, a CRC-32 of each file by path, and its empty folders."""

    digest: str
    files: Mapping[str, int]
    empty_folders: tuple[str, ...]


def contents_of(write_stream: Callable[[Sink], object]) -> Contents:
    """Read a tar stream without keeping it."""
    digests: list[DigestWriter] = []

    def digested(sink: Sink) -> None:
        digests.append(DigestWriter(sink))
        write_stream(digests[0])

    files: dict[str, int] = {}
    folders: set[str] = set()
    with tar_entries(digested) as members:
        for path, content, _ in members:
            if content is None:
                folders.add(path)
                continue
            files[path] = 0
            for chunk in chunks(content):
                files[path] = isal_zlib.crc32(chunk, files[path])
    full = {str(parent) for path in [*files, *folders] for parent in PurePosixPath(path).parents}
    return Contents(digests[0].digest, files, tuple(sorted(folders - full)))


def chunks(content: IO[bytes]) -> Iterator[bytes]:
    """The rest of a stream, a MiB at a time."""
    while chunk := content.read(CHUNK):
        yield chunk


Member = tuple[str, IO[bytes] | None, int]
"""Path, content (none for a folder) and size in bytes."""


@contextmanager
def tar_entries(write_stream: Callable[[Sink], object]) -> Iterator[Iterator[Member]]:
    """The files and folders of a tar stream that a separate thread writes.

    Errors of the writer are raised here.
    """
    read, write = os.pipe()
    failures: list[BaseException] = []

    def produce() -> None:
        try:
            with os.fdopen(write, "wb", CHUNK) as sink:
                write_stream(sink)
        except BrokenPipeError:
            pass  # the reader has ended
        except BaseException as failure:
            failures.append(failure)

    producer = threading.Thread(target=produce, name="tar-stream")
    producer.start()
    try:
        with os.fdopen(read, "rb") as stream:
            try:
                with tarfile.open(mode="r|", fileobj=stream) as tar:
                    yield _members(tar)
                while stream.read(CHUNK):
                    pass  # the rest is needed for the digest
            except tarfile.TarError:
                producer.join()
                if not failures:
                    raise
    finally:
        producer.join()
    if failures:
        raise failures[0]


def _members(tar: tarfile.TarFile) -> Iterator[Member]:
    for member in tar:
        path = str(PurePosixPath(member.name))
        if path != ".":
            yield path, tar.extractfile(member) if member.isfile() else None, member.size
        tar.members = []  # type: ignore[attr-defined]  # otherwise the list grows with the archive
