"""A model repository on disk: which models it holds, and which of its files belong to it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from fleet.findings import Finding, FindingsError

LEFT_OUT = {"__pycache__"}
NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and what Python makes of bytes that are not UTF-8."""
VERSION = re.compile(r"0|[1-9][0-9]*")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class RepositoryEntry(NamedTuple):
    """A folder or a file of a repository: its path in it, and the bytes of a file, None for a folder."""

    path: str
    size: int | None


def model_names(repository: Path, built: Collection[str] = ()) -> list[str]:
    """The model directories, sorted; each has at least one version that Triton would take.

    Models of which an engine is yet to be built get theirs with it.

    Raises:
        FindingsError: the folder holds no model, a model's files at its root, or a model without a version.
    """
    if (repository / "config.pbtxt").exists():
        message = "config.pbtxt is at the root: this is a model, not a model repository"
        hint = "name the folder above it, which holds one directory for each model"
        raise FindingsError(
            [Finding(code="FL402", message=message, hint=hint, file=repository / "config.pbtxt")]
        )
    models = [repository / name for name in sorted(_folders(repository)) if belongs(name)]
    findings = [
        _without_version(model) for model in models if model.name not in built and not versions_of(model)
    ]
    findings += [_misnamed_file_finding(model) for model in models if not NAME.fullmatch(model.name)]
    if not models:
        findings.append(Finding(code="FL407", message="the model repository holds no model", file=repository))
    if findings:
        raise FindingsError(findings)
    return [model.name for model in models]


def entries(repository: Path) -> Iterator[RepositoryEntry]:
    """Folders and files of the repository, each folder before what is in it, in an order that never varies.

    Hidden entries and `__pycache__` are left out.

    Raises:
        FindingsError: an entry is neither folder nor file, or its name is not text.
    """
    for folder, folders, files in os.walk(repository, onerror=_unreadable):
        folders[:] = sorted(filter(belongs, folders))
        here = folder.removeprefix(str(repository)).lstrip("/")
        if here:
            yield RepositoryEntry(here, None)
        for name in [*folders, *sorted(filter(belongs, files))]:
            if NO_TEXT.search(name):
                raise FindingsError([_no_text(Path(folder), name)])
            kind, size = _kind_and_size(f"{folder}/{name}")
            if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
                message = "only folders and files can be packed; this is a link or a device"
                hint, file = "put the file itself there", Path(folder, name)
                raise FindingsError([Finding(code="FL403", message=message, hint=hint, file=file)])
            if stat.S_ISREG(kind):
                yield RepositoryEntry(f"{here}/{name}" if here else name, size)


def _kind_and_size(path: str) -> tuple[int, int]:
    """The type of an entry, no link followed, and its bytes; the type is 0 where it is gone by now."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_mode, found.st_size


def belongs(name: str) -> bool:
    """Whether an entry of that name is part of a repository; hidden ones and what Python made are not."""
    return not name.startswith(".") and name not in LEFT_OUT


def is_version(folder: str) -> bool:
    """Whether Triton reads a model's folder of that name as a version."""
    return VERSION.fullmatch(folder) is not None


def versions_of(model: Path) -> list[str]:
    """The folders of a model that Triton reads as versions, in no order."""
    return [name for name in _folders(model) if is_version(name)]


def _folders(folder: Path) -> list[str]:
    """The names of the folders in a folder, and of links to folders, in no order."""
    with os.scandir(folder) as found:
        return [
            each.name
            for each in found
            if each.is_dir(follow_symlinks=False) or (each.is_symlink() and Path(each.path).is_dir())
        ]


def _misnamed_file_finding(model: Path) -> Finding:
    message = f"{model.name!r} cannot be a model's name: the container splits its settings on white space"
    return Finding(code="FL405", message=message, hint=f"rename it to match {NAME.pattern}", file=model)


def _no_text(folder: Path, name: str) -> Finding:
    message = f"the name {name!r} holds control characters or is not in UTF-8"
    return Finding(code="FL414", message=message, hint="rename it", file=folder)


def _unreadable(error: OSError) -> NoReturn:
    message = f"the folder cannot be read: {error.strerror}"
    raise FindingsError([Finding(code="FL406", message=message, file=Path(error.filename))]) from error


def _without_version(model: Path) -> Finding:
    message = f"model {model.name!r} has no version directory"
    is_model = (model / "config.pbtxt").exists()
    hint = f"put its files into {model.name}/1/; where a script makes them, run it first"
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
