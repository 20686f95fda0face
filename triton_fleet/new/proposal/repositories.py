"""The model repositories in a folder: the folder itself, or several folders in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.contents import Contents, EntryKind
from triton_fleet.repository.entry_path import belongs
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.folder import folder_entries, read_folder
from triton_fleet.repository.version_folders import is_version
from triton_fleet.spec.endpoint import S3


@dataclass(frozen=True, kw_only=True)
class FolderRepositories:
    """The repositories of a folder, without their weights.

    Attributes:
        folder: What was asked for.
        repositories: One, or one for each target of a multi-model endpoint.
        left_out: Names of folders beside these that hold no model.
    """

    folder: Path
    repositories: tuple[Contents, ...]
    left_out: tuple[str, ...] = ()


def repositories_in(named: str) -> FolderRepositories:
    """See what a folder holds.

    Raises:
        FindingsError: it is not a folder that can be read, or neither it nor a folder in it holds models.
    """
    folder = _folder(named)
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and belongs(path.name))
        is_one = _holds_models(folder)
        several = [] if is_one else [each for each in inside if _holds_models(each)]
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL406", message=message, file=folder)]) from error
    if not is_one and not several:
        message = "neither this folder nor one in it is a model repository"
        hint = "a repository holds one directory for each model, with config.pbtxt and a version, 1/"
        raise FindingsError([Finding(code="FL407", message=message, hint=hint, file=folder)])
    repositories = tuple(read_folder(each, packed=True) for each in several or [folder])
    left_out = tuple(each.name for each in inside if several and each not in several)
    return FolderRepositories(folder=folder, repositories=repositories, left_out=left_out)


def _folder(named: str) -> Path:
    if named.startswith(S3):
        message, hint = (
            f"{named} is in S3, and `fleet new` reads only folders",
            "download it, and name the folder",
        )
        raise FindingsError([Finding(code="FL401", message=message, hint=hint)])
    folder = Path(os.path.abspath(named))  # noqa: PTH100 - links stay as they are named
    if folder.is_dir():
        return folder
    problem = "is not a folder" if folder.exists() else "does not exist"
    hint = "name a model repository, or a folder of several; unpack an archive first"
    raise FindingsError([Finding(code="FL401", message=f"{named!r} {problem}", hint=hint)])


def _holds_models(folder: Path) -> bool:
    """Whether a folder is a repository, or a single model that was named by mistake."""
    if (folder / CONFIG).is_file():
        return True
    models = (path for path in folder.iterdir() if path.is_dir() and belongs(path.name))
    return any((model / CONFIG).is_file() or _has_version(model) for model in models)


def _has_version(model: Path) -> bool:
    """Whether a version directory of it holds anything."""
    versions = (folder_entry for folder_entry in folder_entries(str(model)) if is_version(folder_entry.name))
    return any(
        version.kind is EntryKind.FOLDER and any((model / version.name).iterdir()) for version in versions
    )
