"""A model repository in a folder, read without its weights."""

from __future__ import annotations

import os
from pathlib import Path

from fleet.findings import Finding, FindingsError, Severity
from fleet.repository.contents import Contents, Entry, EntryKind
from fleet.repository.layout import NO_TEXT, belongs
from fleet.repository.reading.collector import FOLDER, Collector, TooManyError
from fleet.repository.reading.file_store import FileStore, kind_of
from fleet.repository.reading.gunzip import Bounds, TooLargeError
from fleet.repository.reading.stream import FileStream, UnreadableError

NAMED = b"EXECUTION_ENV_PATH"


def read_folder(folder: Path, *, packed: bool = False) -> Contents:
    """The content of a folder; links in it are not followed.

    Packed environments are read only if a config has the parameter that names one: it takes seconds.

    Args:
        folder: The model repository.
        packed: Whether this product packs it, and so leaves hidden entries and what Python made out.

    Raises:
        FindingsError: it cannot be listed.
    """
    gathered = Collector(folder, archive=False)
    try:
        _list(gathered, packed=packed)
    except TooManyError as error:
        gathered.notes.add("FL443", f"the rest of the folder is not checked: {error}")
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL406", message=message, file=folder)]) from error
    _read(gathered)
    return gathered.contents()


def _list(gathered: Collector, *, packed: bool) -> None:
    waiting = _entries(gathered, "", packed=packed)
    while waiting:
        folder = waiting.pop()
        try:
            waiting += _entries(gathered, folder, packed=packed)
        except OSError as error:
            gathered.notes.add("FL406", f"the folder cannot be read: {error.strerror}", folder)


def _entries(gathered: Collector, folder: str, *, packed: bool) -> list[str]:
    """Add what is in a folder; the folders in it."""
    with os.scandir(gathered.place / folder) as found:
        entries = sorted(found, key=lambda each: each.name)
    folders = []
    for each in entries:
        path = f"{folder}/{each.name}" if folder else each.name
        left_out = not all(map(belongs, path.split("/")))
        if left_out and packed:
            continue
        if NO_TEXT.search(each.name):
            message = f"the name {each.name!r} holds control characters or is not in UTF-8"
            gathered.notes.add("FL414", message, folder, "rename it")
            continue
        entry = _entry(each)
        gathered.add(path, entry)
        if entry.kind is EntryKind.FOLDER:
            folders.append(path)
        elif entry.kind is not EntryKind.FILE and not left_out:
            message = "only folders and files can be packed; this is a link or a device"
            # A link may lead to what Triton reads well, in a repository that somebody else packs.
            lenient = entry.kind is EntryKind.LINK and not packed
            severity = Severity.WARNING if lenient else Severity.ERROR
            gathered.notes.add("FL403", message, path, "put the file itself there", severity)
    return folders


def _entry(each: os.DirEntry[str]) -> Entry:
    if each.is_symlink():
        return Entry(EntryKind.LINK)
    if each.is_dir(follow_symlinks=False):
        return FOLDER
    if not each.is_file(follow_symlinks=False):
        return Entry(EntryKind.OTHER)
    return Entry(EntryKind.FILE, each.stat(follow_symlinks=False).st_size)


def _read(gathered: Collector) -> None:
    bounds = Bounds(packed=0)
    kept = FileStore(gathered, bounds)
    kinds = {path: kind_of(path) for path, size in gathered.files()}
    # Packed environments come last: the configs show whether they are needed.
    for path, size in sorted(gathered.files(), key=lambda each: (kinds[each[0]] == "packed", each[0])):
        if not kinds[path]:
            continue
        if kinds[path] == "packed":
            if not any(NAMED in text for text in gathered.texts.values()):
                break
            bounds.packed += size
        try:
            with (gathered.place / path).open("rb", buffering=0) as file:
                kept.read(path, size, FileStream(file, size))
        except TooLargeError as error:
            gathered.notes.add("FL443", f"{path!r} is not checked: {error}", path)
        except (OSError, UnreadableError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            gathered.notes.add("FL406", f"the file cannot be read: {reason}", path)
