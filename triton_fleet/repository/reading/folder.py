"""A model repository in a folder, read without its weights; or in an archive."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.contents import Contents, Entry, EntryKind
from triton_fleet.repository.entry_path import FIRST, NO_TEXT, belongs, empty_versions, is_version
from triton_fleet.repository.file_formats import MAX_BYTES, MIN_BYTES, lfs_finding, lfs_size
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.archive import read_archive
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.file_store import FileStore, kind_of
from triton_fleet.repository.reading.gunzip import ArchiveTooLargeError, Bounds
from triton_fleet.repository.reading.paths import FOLDER, TooManyError
from triton_fleet.repository.stream import FileStream, UnreadableError

ENVIRONMENT_KEY = b"EXECUTION_ENV_PATH"


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
    with os.scandir(folder) as entries:
        return sorted(map(_entry, entries))


def _entry(entry: os.DirEntry[str]) -> FolderEntry:
    if entry.is_symlink():
        return FolderEntry(entry.name, EntryKind.LINK)
    if entry.is_dir(follow_symlinks=False):
        return FolderEntry(entry.name, EntryKind.FOLDER)
    try:
        if entry.is_file(follow_symlinks=False):
            return FolderEntry(entry.name, EntryKind.FILE, entry.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:  # gone by now
        pass
    return FolderEntry(entry.name, EntryKind.SPECIAL)


def read_folder(folder: Path, *, is_packed: bool = False) -> Contents:
    """The content of a folder; links in it are not followed.

    Packed environments are read only if a config has the parameter that names one: it takes seconds.

    Args:
        folder: The model repository.
        is_packed: Whether this product packs it, and so leaves hidden entries and what Python made out.

    Raises:
        FindingsError: it cannot be listed.
    """
    collector = Collector(folder, archive=False)
    try:
        _list(collector, is_packed=is_packed)
    except TooManyError as error:
        collector.notes.add("FL443", f"the rest of the folder is not checked: {error}")
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL406", message=message, file=folder)]) from error
    _read(collector)
    return _packed_contents(collector.contents()) if is_packed else collector.contents()


def _list(collector: Collector, *, is_packed: bool) -> None:
    folders = _entries(collector, "", is_packed=is_packed)
    while folders:
        folder = folders.pop()
        try:
            folders += _entries(collector, folder, is_packed=is_packed)
        except OSError as error:
            collector.notes.add("FL406", f"the folder cannot be read: {error.strerror}", folder)


def _entries(collector: Collector, folder: str, *, is_packed: bool) -> list[str]:
    """Add what is in a folder; the folders in it."""
    left_out_above = not all(map(belongs, folder.split("/"))) if folder else False
    folders = []
    for name, kind, size in folder_entries(f"{collector.place}/{folder}" if folder else str(collector.place)):
        path = f"{folder}/{name}" if folder else name
        left_out = left_out_above or not belongs(name)
        if left_out and is_packed:
            continue
        if NO_TEXT.search(name):
            message = f"the name {name!r} contains control characters or is not UTF-8"
            collector.notes.add("FL414", message, folder, "rename it")
            continue
        collector.add(path, FOLDER if kind is EntryKind.FOLDER else Entry(kind, size))
        if kind is EntryKind.FOLDER:
            folders.append(path)
        elif kind is not EntryKind.FILE and not left_out:
            message = "only folders and files can be packed; this is a link or a device"
            # A link may lead to what Triton reads well, in a repository that somebody else packs.
            lenient = kind is EntryKind.LINK and not is_packed
            severity = Severity.WARNING if lenient else Severity.ERROR
            collector.notes.add("FL403", message, path, "replace it with the file itself", severity)
    return folders


def _packed_contents(contents: Contents) -> Contents:
    """The repository with the folders that its archive has, and with all of its root."""
    with_files, findings = set[str](), list(contents.findings)
    for path, entry in contents.entries.items():
        above = "" if entry.kind is EntryKind.FOLDER else path.rpartition("/")[0]
        while above and above not in with_files:
            with_files.add(above)
            above = above.rpartition("/")[0]
    entries_by_path = dict[str, Entry]()
    for model in contents.folders():
        versions = {version for version in contents.folders(model) if is_version(version)}
        full_versions = {version for version in versions if f"{model}/{version}" in with_files}
        empty = empty_versions(contents.texts.get(f"{model}/{CONFIG}", b""), full_versions)
        entries_by_path |= {f"{model}/{version}": FOLDER for version in empty}
        lost_versions = sorted(versions.difference(full_versions, empty))
        findings += (
            _left_out(contents.file(f"{model}/{version}"))
            for version in lost_versions
            if version != FIRST or full_versions
        )
    entries = entries_by_path | {
        path: entry
        for path, entry in contents.entries.items()
        if entry.kind is not EntryKind.FOLDER or path in with_files or "/" not in path
    }
    findings.sort(key=lambda problem: problem.sort_key)
    return replace(contents, entries=dict(sorted(entries.items())), findings=tuple(findings), is_packed=True)


def _left_out(folder: Path) -> Finding:
    message = f"the version directory {folder.name} of {folder.parent.name!r} is empty, so it is not packed"
    hint = "put a file into it; or name it in `version_policy` if the model needs none; or remove it"
    return Finding(code="FL463", message=message, hint=hint, file=folder, severity=Severity.WARNING)


def _note_pointers(collector: Collector, kinds: Mapping[str, str]) -> set[str]:
    """The files that only stand for one in Git LFS; graphs are reported where they are read."""
    pointers = set[str]()
    for path, size in collector.files():
        if kinds[path] in ("config", "code", "onnx") or not MIN_BYTES <= size <= MAX_BYTES:
            continue
        file = collector.place / path
        with suppress(OSError):  # reported where it is read or packed
            target_size = lfs_size(file.read_bytes())
            if target_size is not None:
                pointers.add(path)
                problem = lfs_finding(file, target_size)
                collector.notes.add(problem.code, problem.message, path, problem.hint)
    return pointers


def _read(collector: Collector) -> None:
    bounds = Bounds(packed_size=0)
    store = FileStore(collector, bounds)
    kinds = {path: kind_of(path) for path, size in collector.files()}
    pointers = _note_pointers(collector, kinds)
    # Packed environments come last: the configs show whether they are needed.
    for path, size in sorted(collector.files(), key=lambda item: (kinds[item[0]] == "packed", item[0])):
        if not kinds[path] or path in pointers:
            continue
        if kinds[path] == "packed":
            if not any(ENVIRONMENT_KEY in text for text in collector.texts.values()):
                break
            bounds.packed_size += size
        try:
            with (collector.place / path).open("rb", buffering=0) as file:
                before = os.fstat(file.fileno())
                store.read(path, size, FileStream(file, size))
                after = os.fstat(file.fileno())
            if after.st_size != size or before.st_mtime_ns != after.st_mtime_ns:
                change = changed_while_read(collector.place / path)
                collector.notes.add(change.code, change.message, path, change.hint)
        except ArchiveTooLargeError as error:
            collector.notes.add("FL443", f"{path!r} is not checked: {error}", path)
        except (OSError, UnreadableError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            collector.notes.add("FL406", f"the file cannot be read: {reason}", path)


def changed_while_read(file: Path) -> Finding:
    """The error for a file that is being written."""
    message = "the file changed while it was read"
    hint = "wait until its writer has finished, then run the command again"
    return Finding(code="FL305", message=message, hint=hint, file=file)


def read(path: Path) -> Contents:
    """The content of a folder or an archive.

    Raises:
        FindingsError: it does not exist, cannot be opened, or is neither.
    """
    if path.is_dir():
        return read_folder(path)
    if not path.exists():
        message = "there is no model repository"
        raise FindingsError([Finding(code="FL401", message=message, file=path)])
    if not path.is_file():
        message = "it is neither a folder nor an archive"
        raise FindingsError([Finding(code="FL440", message=message, file=path)])
    return read_archive(path)
