"""A model repository on disk: which models it holds, and what of it is packed.

What is packed is the same in every clone: git keeps no empty folders, so that none is packed, except the
version folders that a model without files is served from (docs/decisions/0031).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from heapq import merge
from pathlib import Path
from typing import NamedTuple, NoReturn

from fleet.core.look import is_looking, read_once
from fleet.findings import Finding, FindingsError
from fleet.repository.contents import EntryKind
from fleet.repository.folder_entries import FolderEntry, folder_entries
from fleet.repository.model_config import CONFIG
from fleet.repository.version_folders import empty_versions, is_version

LEFT_OUT = {"__pycache__"}
NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and what Python makes of bytes that are not UTF-8."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class RepositoryEntry(NamedTuple):
    """A folder or a file that is packed: its path in the repository; bytes of a file, None for a folder.

    A version folder without files need not exist.
    """

    path: str
    size: int | None


def model_names(repository: Path, built: Collection[str] = (), *, packed: bool = True) -> tuple[str, ...]:
    """The model directories, sorted; each has at least one version that Triton would take.

    Args:
        repository: The folder.
        built: Models of which an engine is yet to be built; they get their version with it.
        packed: Whether this product packs the folder: versions without files are not packed then, and a
            model that needs no file gets one.

    Raises:
        FindingsError: the folder holds no model, a model's files at its root, or a model without a version.
    """
    return read_once(_model_names, repository, frozenset(built), packed)


def _model_names(repository: Path, built: Collection[str], packed: bool) -> tuple[str, ...]:
    if (repository / CONFIG).exists():
        message = "config.pbtxt is at the root: this is a model, not a model repository"
        hint = "name the folder above it, which holds one directory for each model"
        raise FindingsError([Finding(code="FL402", message=message, hint=hint, file=repository / CONFIG)])
    models = _models(repository)
    findings = [
        _without_version(model)
        for model in models
        if model.name not in built and not _has_version(model, packed=packed)
    ]
    findings += [_misnamed_file_finding(model) for model in models if not NAME.fullmatch(model.name)]
    if not models:
        findings.append(Finding(code="FL407", message="the model repository has no model", file=repository))
    if findings:
        raise FindingsError(findings)
    return tuple(model.name for model in models)


def entries(repository: Path) -> Iterator[RepositoryEntry]:
    """Folders and files of the repository, each folder before what is in it, in an order that never varies.

    Left out are hidden entries, `__pycache__`, and folders without files, except for the versions of models
    that need no file.

    Raises:
        FindingsError: an entry is neither folder nor file, or its name is not text.
    """
    return iter(read_once(_listed, repository)) if is_looking() else _entries(repository)


def _listed(repository: Path) -> list[RepositoryEntry]:
    return list(_entries(repository))


def _entries(repository: Path) -> Iterator[RepositoryEntry]:
    added = [
        RepositoryEntry(f"{model.name}/{version}", None)
        for model in _models(repository)
        for version in _versions_without_files(model)
    ]
    with_files = _entries_with_files(repository)
    if not added:
        return with_files
    return merge(with_files, added, key=lambda entry: place(entry.path, is_folder=entry.size is None))


def _entries_with_files(repository: Path) -> Iterator[RepositoryEntry]:
    waiting, without_files = [""], list[str]()
    while waiting:
        here = waiting.pop()
        if here:
            without_files.append(here)
        found = _belonging(f"{repository}/{here}" if here else str(repository))
        for name, kind, size in found:
            path = f"{here}/{name}" if here else name
            if NO_TEXT.search(name):
                raise FindingsError([_no_text(repository / here, name)])
            if kind is EntryKind.FILE:
                yield from (
                    RepositoryEntry(above, None)
                    for above in without_files
                    if f"{here}/".startswith(f"{above}/")
                )
                without_files.clear()
                yield RepositoryEntry(path, size)
            elif kind is not EntryKind.FOLDER:
                message = "only folders and files can be packed; this is a link or a device"
                hint, file = "replace it with the file itself", repository / path
                raise FindingsError([Finding(code="FL403", message=message, hint=hint, file=file)])
        folders = [each.name for each in found if each.kind is EntryKind.FOLDER]
        waiting += (f"{here}/{name}" if here else name for name in reversed(folders))


def _belonging(folder: str) -> list[FolderEntry]:
    """What of a folder is part of a repository."""
    try:
        return [each for each in folder_entries(folder) if belongs(each.name)]
    except OSError as error:
        _unreadable(error)


def place(path: str, *, is_folder: bool) -> tuple[tuple[bool, str], ...]:
    """The sort key of packed paths: a folder, its files, then the folders in it."""
    *above, name = path.split("/")
    return (*((True, part) for part in above), (is_folder, name))


def belongs(name: str) -> bool:
    """Whether an entry of that name is part of a repository; hidden ones and what Python made are not."""
    return not name.startswith(".") and name not in LEFT_OUT


def versions_of(model: Path, *, packed: bool = True) -> list[str]:
    """The folders of a model that Triton reads as versions, in no order; `packed`: those with files alone."""
    return read_once(_versions, model, packed)


def _versions(model: Path, packed: bool) -> list[str]:
    names = [name for name in _folders(model) if is_version(name)]
    return [name for name in names if _has_file(model / name)] if packed else names


def _has_version(model: Path, *, packed: bool) -> bool:
    return bool(versions_of(model, packed=packed) or (packed and _versions_without_files(model)))


def _models(repository: Path) -> list[Path]:
    return read_once(_model_folders, repository)


def _model_folders(repository: Path) -> list[Path]:
    try:
        return [repository / name for name in _folders(repository) if belongs(name)]
    except OSError as error:
        _unreadable(error)


def _versions_without_files(model: Path) -> list[str]:
    """The version folders that a model gets when it is packed, whether or not they exist."""
    return read_once(_read_versions_without_files, model)


def _read_versions_without_files(model: Path) -> list[str]:
    content = config_of(model)
    return [] if content is None else empty_versions(content, {*versions_of(model)})


def config_of(model: Path) -> bytes | None:
    """The config.pbtxt of a model; None where there is none, or it cannot be read."""
    return read_once(_read_config, model)


def _read_config(model: Path) -> bytes | None:
    try:
        return (model / CONFIG).read_bytes()
    except OSError:  # reported where it is read
        return None


def _folders(folder: Path) -> list[str]:
    """The names of the folders in a folder, and of links to folders."""
    return [
        name
        for name, kind, _ in folder_entries(str(folder))
        if kind is EntryKind.FOLDER or (kind is EntryKind.LINK and (folder / name).is_dir())
    ]


def _has_file(folder: Path) -> bool:
    """Whether anything in a folder is packed, or refused."""
    if folder.is_symlink():
        return True
    waiting = [str(folder)]
    while waiting:
        above = waiting.pop()
        with suppress(OSError):  # reported where it is packed
            for name, kind, _ in folder_entries(above):
                if belongs(name):
                    if kind is not EntryKind.FOLDER:
                        return True
                    waiting.append(f"{above}/{name}")
    return False


def _misnamed_file_finding(model: Path) -> Finding:
    message = f"{model.name!r} cannot be a model's name: the container splits its settings on white space"
    return Finding(code="FL405", message=message, hint=f"rename it to match {NAME.pattern}", file=model)


def _no_text(folder: Path, name: str) -> Finding:
    message = f"the name {name!r} contains control characters or is not UTF-8"
    return Finding(code="FL414", message=message, hint="rename it", file=folder)


def _unreadable(error: OSError) -> NoReturn:
    message = f"the folder cannot be read: {error.strerror}"
    raise FindingsError([Finding(code="FL406", message=message, file=Path(error.filename))]) from error


def _without_version(model: Path) -> Finding:
    lack = (
        "no file in its version directories" if versions_of(model, packed=False) else "no version directory"
    )
    message = f"model {model.name!r} has {lack}"
    is_model = (model / CONFIG).exists()
    hint = f"put its files into {model.name}/1/; if a script creates them, run it first"
    if not is_model and not _holds_model_file(model):
        hint = f"{hint}; if it is not a model, remove the folder"
    return Finding(code="FL404", message=message, hint=hint, file=model)


def _holds_model_file(folder: Path) -> bool:
    """Whether a model's file is in the folder or in one of its subfolders; no if it vanishes meanwhile."""
    try:
        # No deeper: the repository may have been mistaken for a folder of half the disk.
        return any(any(folder.glob(pattern)) for pattern in ("model.*", "*/model.*"))
    except OSError:
        return False
