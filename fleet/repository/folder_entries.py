"""What is in a folder of a repository; during one look at the disk each folder is listed once."""

from __future__ import annotations

import os
from typing import NamedTuple

from fleet.core.look import read_once
from fleet.repository.contents import EntryKind


class FolderEntry(NamedTuple):
    """An entry of a folder; `size` in bytes, 0 if it is not a file."""

    name: str
    kind: EntryKind
    size: int = 0


def folder_entries(folder: str) -> list[FolderEntry]:
    """The entries of a folder, sorted by name; links are not followed.

    Raises:
        OSError: it cannot be listed.
    """
    return read_once(_scan, folder)


def _scan(folder: str) -> list[FolderEntry]:
    with os.scandir(folder) as found:
        return sorted(map(_entry, found))


def _entry(each: os.DirEntry[str]) -> FolderEntry:
    if each.is_symlink():
        return FolderEntry(each.name, EntryKind.LINK)
    if each.is_dir(follow_symlinks=False):
        return FolderEntry(each.name, EntryKind.FOLDER)
    try:
        if each.is_file(follow_symlinks=False):
            return FolderEntry(each.name, EntryKind.FILE, each.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:  # gone by now
        pass
    return FolderEntry(each.name, EntryKind.OTHER)
