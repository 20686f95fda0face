"""The sources of an endpoint's archives, as its spec names them."""

from __future__ import annotations

from pathlib import Path

from fleet.artifacts.sources.folder import FolderSource
from fleet.artifacts.sources.source import ArchiveSource
from fleet.findings import FindingsError
from fleet.spec.endpoint import Packed
from fleet.spec.project import LoadedSpec
from fleet.spec.source import finding_at


def source_of(loaded: LoadedSpec, packed: Packed) -> ArchiveSource:
    """What one of the endpoint's archives is packed from.

    Raises:
        FindingsError: the repository is not there; the place is the line that names it.
    """
    return FolderSource(repository_of(loaded, packed.index))


def repository_of(loaded: LoadedSpec, index: int) -> Path:
    """The folder of one of the endpoint's model repositories.

    Raises:
        FindingsError: it is not there; the place is the line that names it.
    """
    mark = loaded.source.mark(("models", index, "repository"))
    repository = (mark.file.parent / loaded.spec.models[index].repository).resolve()
    if not repository.is_dir():
        message = f"{repository} is {'no folder' if repository.exists() else 'not there'}"
        hint = f"a path is relative to {mark.file.parent}"
        raise FindingsError([finding_at(mark, "FL401", message, hint)])
    return repository
