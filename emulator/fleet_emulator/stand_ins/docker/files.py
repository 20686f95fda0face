"""The files of an image, and the messages of the stand-in."""

from __future__ import annotations

import sys
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from triton_fleet.core.tar_writer import write_end, write_member
from triton_fleet.printers.sanitizer import powerless
from triton_fleet.repository.entry_path import path_problem

_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ImageFile:
    """A file; without a source it is empty."""

    mode: int = 0o644
    source: Path | None = None

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.source.stat().st_size if self.source else 0

    def chunks(self) -> Iterator[bytes]:
        """The bytes."""
        if self.source:
            with self.source.open("rb") as opened:
                while chunk := opened.read(_CHUNK):
                    yield chunk


class ImageFiles:
    """Files and folders by their paths, which begin with no slash; the root always exists."""

    def __init__(self) -> None:
        self._entries: dict[str, ImageFile | None] = {}

    def __iter__(self) -> Iterator[str]:
        """All paths, sorted, each folder before what is in it."""
        return iter(sorted(self._entries))

    def is_folder(self, path: str) -> bool:
        """Whether a path is a folder."""
        return not path or (path in self._entries and self._entries[path] is None)

    def put(self, path: str, file: ImageFile | None) -> None:
        """Put a file, or a folder for None, and the folders above it.

        Raises:
            DockerError: a file is where a folder has to be, or the reverse; or no tar takes the path.
        """
        if problem := path_problem(path):
            raise DockerError(f"the path {path!r} {problem}")
        for folder in _folders(path) if file else (*_folders(path), path):
            if self._entries.setdefault(folder) is not None:
                raise DockerError(f"a folder cannot replace a file: /{folder}")
        if file:
            if self.is_folder(path):
                raise DockerError(f"a file cannot replace a folder: /{path}")
            self._entries[path] = file

    def write_tar(self, target: IO[bytes]) -> None:
        """Write a tar: sorted, owned by root, of 1970; the same bytes on each machine."""
        size = 0
        for path in self:
            if file := self._entries[path]:
                content = file.chunks()
                size += write_member(target, path, tarfile.REGTYPE, file.mode, size=file.size, chunks=content)
            else:
                size += write_member(target, path, tarfile.DIRTYPE, 0o755)
        write_end(size, target)


def _folders(path: str) -> Iterable[str]:
    return [str(folder) for folder in PurePosixPath(path).parents][-2::-1]


NAME = "docker (stand-in)"
FAILED, REFUSED = 1, 125
"""Exit codes of docker: a command failed; docker itself refuses the call, before anything runs."""


class DockerError(Exception):
    """A failure of the stand-in, each argument a line; `code` is the exit code of docker for it."""

    def __init__(self, *lines: str, code: int = FAILED) -> None:
        super().__init__(*lines)
        self.code = code


def report(text: str) -> None:
    """Write progress and errors, on stderr as docker does."""
    for line in text.splitlines() or [""]:
        print(powerless(f"{NAME}: {line}"), file=sys.stderr, flush=True)


def data(text: str) -> None:
    """Write what other programs read, as it is."""
    print(text, flush=True)
