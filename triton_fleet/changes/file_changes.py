"""The files of a model repository that two locks record with other checksums, in words with their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rich import filesize

from triton_fleet.repository.copies import copied_name
from triton_fleet.repository.entry_path import is_version
from triton_fleet.spec.lock import Lock, LockedRepository

MANY = "/*"
"""The end of a path whose checksum is that of a folder with many files."""
MAX_FILES = 20
"""Files of one repository that are named; the others are counted."""
Sizes = Mapping[str, int]
"""Bytes by path below the repository."""
NO_SIZES: Mapping[str, Sizes] = {}


def differing_files(name: str, before: Lock, after: Lock) -> tuple[str, ...]:
    """The paths whose checksums differ in one repository; a folder of many files is one path, `FOLDER/*`.

    None where one of the locks has no checksums of the repository: that of an archive in S3 has none.
    """
    old, new = (each.repositories.get(name, LockedRepository()).files for each in (before, after))
    if not (old and new):
        return ()
    paths = (path for path in sorted({**old, **new}) if old.get(path) != new.get(path))
    folded = {path for path in {**old, **new} if path.endswith(MANY)}
    return tuple(path for path in paths if path in folded or _folder(path) not in folded)


def file_changes(
    name: str,
    before: Lock,
    after: Lock,
    sizes: tuple[Mapping[str, Sizes], Mapping[str, Sizes]] = (NO_SIZES, NO_SIZES),
) -> Iterator[str]:
    """Each file that differs, as in `labels/1/model.py 1.2 kB → 1.4 kB`.

    Args:
        name: The repository, as the locks name it.
        before: The lock before.
        after: The lock afterwards.
        sizes: Known sizes of both sides by repository; what is missing there and in the lock is not given.
    """
    paths = differing_files(name, before, after)
    for path in paths[:MAX_FILES]:
        sides = zip((before, after), sizes, strict=True)
        old, new = (_size(name, path, lock, known.get(name, {})) for lock, known in sides)
        yield _words(
            path, path in before.repositories[name].files, path in after.repositories[name].files, old, new
        )
    if len(paths) > MAX_FILES:
        yield f"{len(paths) - MAX_FILES} more files"


def _words(path: str, is_old: bool, is_new: bool, old: str, new: str) -> str:
    if path.endswith(MANY):
        return f"some files in {path.removesuffix(MANY)} changed"
    if not (is_old and is_new):
        return f"{path} {'new' if is_new else 'removed'}{f', {old or new}' if old or new else ''}"
    if old and old == new:
        return f"{path} changed, {new}"
    if old and new:
        return f"{path} {old} → {new}"
    return f"{path} changed{f', {old} before' if old else f', now {new}' if new else ''}"


def _folder(path: str) -> str:
    return f"{PurePosixPath(path).parent}{MANY}"


def _size(name: str, path: str, lock: Lock, known: Sizes) -> str:
    size = known.get(path) or _locked_size(name, path, lock)
    return filesize.decimal(size) if size else ""


def _locked_size(name: str, path: str, lock: Lock) -> int:
    """The bytes of the only file in a model's version folders, whose sum the lock has; 0 of any other."""
    model = path.partition("/")[0]
    files = [file for file in lock.repositories[name].files if _is_of_version(file, model)]
    if files != [path]:
        return 0
    archives = ((lock.archives.get(name), model), (lock.archives.get(f"{name}-0"), copied_name(model, 0)))
    return next((one.models[key].size for one, key in archives if one and key in one.models), 0)


def _is_of_version(path: str, model: str) -> bool:
    folder, *below = path.split("/", 2)
    return folder == model and len(below) == 2 and is_version(below[0])
