"""Untrusted archives, unpacked: only folders and files, within a budget, and nothing before all was seen.

Each archive is read twice: nothing is written before its last entry has been looked at. No link is ever made,
so no path can lead out of the folder by one (CVE-2025-4517 and its like).
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from triton_fleet.catalog.limits import limit
from triton_fleet.core.formats import format_size
from triton_fleet.repository.contents import Entry, EntryKind
from triton_fleet.repository.entry_path import path_problem, plain_path
from triton_fleet.repository.reading.gunzip import MAX_ENTRIES, Bounds, gunzip
from triton_fleet.repository.reading.paths import FOLDER, ClashError, Paths
from triton_fleet.repository.reading.tar import Member, members
from triton_fleet.repository.stream import FileStream, UnreadableError

ZIP_TYPES = {0: "", stat.S_IFREG: "", stat.S_IFDIR: "", stat.S_IFLNK: "a symbolic link"}
"""By the type of a file in its Unix mode; 0 where the archive was not made on Unix."""


class UnpackingError(Exception):
    """Why an archive is not unpacked."""


class TooLargeError(UnpackingError):
    """It holds more than it may; `size` are the bytes that it takes at least."""

    def __init__(self, problem: str, size: int) -> None:
        self.size = size
        super().__init__(problem)


@dataclass(frozen=True, kw_only=True)
class UnpackingBudget:
    """Limits of what is downloaded and unpacked at one time.

    Attributes:
        size: Bytes, of what is downloaded as well as of what it unpacks to.
        entries: Files and folders, also those that only paths name.
        what: Where the bounds come from, for people.
    """

    size: int
    entries: int
    what: str

    def require(self, size: int, entries: int = 0) -> None:
        """See that so much is within the budget.

        Raises:
            TooLargeError: it is not.
        """
        if size > self.size:
            minimum, maximum = format_size(size), format_size(self.size)
            raise TooLargeError(f"it takes at least {minimum}, more than {maximum}: {self.what}", size)
        if entries > self.entries:
            raise TooLargeError(f"it holds more than {self.entries} entries: {self.what}", size)


def budget(size: int | None = None, description: str = "") -> UnpackingBudget:
    """At most `size` bytes, and what the largest volume of an instance holds."""
    volume = limit("volume_gb_max") << 30
    if size is not None and size < volume:
        return UnpackingBudget(size=size, entries=MAX_ENTRIES, what=description)
    return UnpackingBudget(size=volume, entries=MAX_ENTRIES, what="the largest volume of an instance")


def budget_of_disk(folder: Path) -> UnpackingBudget:
    """Half of what is free on the disk of `folder`: Triton gets a changed copy of what is unpacked."""
    return budget(free(folder) // 2, "half of what is free on this disk")


def free(folder: Path) -> int:
    """Bytes that are free on the disk of a folder, which need not exist yet."""
    existing_folder = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return shutil.disk_usage(existing_folder).free


def unpack_tar(archive: Path, folder: Path, budget: UnpackingBudget) -> None:
    """Unpack a .tar.gz into `folder`, which is made if it is missing.

    The only permission that is kept is whether the owner may execute a file; of two files of one name, the
    later one is kept.

    Raises:
        TooLargeError: it holds more than the budget; nothing was written.
        UnpackingError: it is not a .tar.gz, is damaged, or holds anything but folders and files below its
            root; nothing was written.
        OSError: it cannot be read, or the disk is full.
    """
    try:
        with archive.open("rb", buffering=0) as content:
            for _ in _tar_entries(content, budget):
                pass
            folder.mkdir(exist_ok=True)
            for path, member in _tar_entries(content, budget):
                _write(folder / path, member)
    except UnreadableError as error:
        raise UnpackingError(str(error)) from error


def unpack_zip(zip_stream: BinaryIO, folder: Path, budget: UnpackingBudget) -> None:
    """Unpack a zip file into `folder`, which is made if it is missing.

    Raises:
        TooLargeError: it holds more than the budget; nothing was written.
        UnpackingError: it is not a zip file, or holds anything but folders and files below its root; nothing
            was written.
        OSError: the disk is full.
    """
    entries = _Entries(budget)
    try:
        with ZipFile(zip_stream) as archive:
            for info in archive.infolist():
                # As it is stored: ZipInfo.filename is cut at a NUL, and has other separators replaced.
                kind = ZIP_TYPES.get(stat.S_IFMT(info.external_attr >> 16), "neither a folder nor a file")
                entries.add(info.orig_filename, kind, info.file_size, is_folder=info.is_dir())
            folder.mkdir(exist_ok=True)
            archive.extractall(folder)
    except UnreadableError as error:
        raise UnpackingError(str(error)) from error
    except (BadZipFile, NotImplementedError, RuntimeError) as error:  # RuntimeError: it has a password
        raise UnpackingError(f"it is not a zip file that can be unpacked: {error}") from error


class _Entries:
    """The entries that an archive would write."""

    def __init__(self, budget: UnpackingBudget) -> None:
        self._budget, self._paths, self._number = budget, Paths(), 0

    def add(self, path: str, kind: str, size: int, *, is_folder: bool) -> str:
        """Check one entry; its path in one spelling, "" for the root itself.

        Raises:
            TooLargeError: it is one too many. UnreadableError: it may not be unpacked.
        """
        if problem := path_problem(path):
            raise UnreadableError(f"{path!r} {problem}")
        if kind:
            raise UnreadableError(f"{path!r} is {kind}; only folders and files are unpacked")
        path = plain_path(path)
        if path:
            self._paths.add(path, FOLDER if is_folder else Entry(EntryKind.FILE, size))
        elif not is_folder:
            raise ClashError(path)
        self._number += 1
        self._budget.require(self._paths.size, max(self._number, len(self._paths.entries)))
        return path


def _tar_entries(archive: BinaryIO, budget: UnpackingBudget) -> Iterator[tuple[str, Member]]:
    size = archive.seek(0, 2)
    archive.seek(0)
    bounds, entries = Bounds(packed_size=size), _Entries(budget)
    for member in members(gunzip(FileStream(archive, size), bounds, is_required=True), bounds):
        path = entries.add(member.path, member.what, member.content.size, is_folder=member.is_folder)
        yield path, member


def _write(file: Path, member: Member) -> None:
    if member.is_folder:
        file.mkdir(parents=True, exist_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    with file.open("xb") as target:
        target.writelines(member.content.pieces())
    if member.is_executable:
        file.chmod(file.stat().st_mode | 0o111)
