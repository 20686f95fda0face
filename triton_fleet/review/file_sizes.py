"""The sizes of files that two locks record with other checksums, where a commit has those files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isal import isal_zlib

from triton_fleet.changes.endpoint_change import Revision
from triton_fleet.changes.file_changes import MANY, MAX_FILES, Sizes, differing_files
from triton_fleet.project.project import LoadedSpec
from triton_fleet.review.base_tree import BaseTree, base_files
from triton_fleet.spec.endpoint import in_s3
from triton_fleet.store.archive import crc_text

MAX_BYTES = 1 << 26
"""Of a file that is read to compare it with its checksum; weights that Git keeps may be larger."""
Known = Mapping[str, Mapping[str, Sizes]]
"""Bytes by endpoint, repository and path."""


@dataclass(frozen=True)
class _LockedFile:
    endpoint: str
    repository: str
    path: str
    checksum: str
    file: Path


def file_sizes(
    base: BaseTree, before: Mapping[str, Revision], after: Mapping[str, Revision], names: Sequence[str]
) -> tuple[Known, Known]:
    """The sizes in the base and in the work tree of the files that differ, by the locks of some endpoints.

    A file of another content than the lock recorded is left out: weights that Git does not keep, a pointer to
    them, and what has changed since an environment was promoted.
    """
    files = [*_files(before, before, after, names)]
    found = base_files(base, [file.file for file in files if file.file.is_relative_to(base.place)], MAX_BYTES)
    old = _sizes((file, found.get(file.file)) for file in files)
    top = base.tree.top
    new = _sizes((file, _content(top, file.file)) for file in _files(after, before, after, names))
    return old, new


def _files(
    side: Mapping[str, Revision],
    before: Mapping[str, Revision],
    after: Mapping[str, Revision],
    names: Sequence[str],
) -> Iterator[_LockedFile]:
    """The files of one side whose checksums differ."""
    for name in names:
        old, new, mine = (each.get(name) for each in (before, after, side))
        if not (old and new and mine and old.lock and new.lock and mine.lock and mine.loaded):
            continue
        for repository, folder in _folders(mine.loaded):
            checksums = (
                mine.lock.repositories[repository].files if repository in mine.lock.repositories else {}
            )
            for path in differing_files(repository, old.lock, new.lock)[:MAX_FILES]:
                if path in checksums and path.isprintable() and not path.endswith(MANY):
                    file = Path(os.path.normpath(folder / path))
                    yield _LockedFile(name, repository, path, checksums[path], file)


def _folders(loaded: LoadedSpec) -> Iterator[tuple[str, Path]]:
    """The model repositories that are folders, by name, wherever they are."""
    for index, each in enumerate(loaded.spec.models):
        if not in_s3(each):
            yield (
                each.archive,
                loaded.source.mark(("models", index, "repository")).file.parent / each.repository,
            )


def _sizes(contents: Iterator[tuple[_LockedFile, bytes | None]]) -> Known:
    found = defaultdict[str, dict[str, dict[str, int]]](lambda: defaultdict(dict))
    for each, content in contents:
        if content is not None and crc_text(isal_zlib.crc32(content)) == each.checksum:
            found[each.endpoint][each.repository][each.path] = len(content)
    return found


def _content(top: Path, file: Path) -> bytes | None:
    """A file of the work tree; None of a link, of one elsewhere, and of one too large."""
    try:
        real = Path(os.path.realpath(file))
        if real != file or not file.is_relative_to(top) or not file.is_file():
            return None
        return file.read_bytes() if file.stat().st_size <= MAX_BYTES else None
    except OSError:
        return None
