"""The paths that a spec names lead to what is reviewed with it: its Git work tree, else its fleet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from triton_fleet.core.folders import PRIVATE_NAMES, git_tops, real_project_root
from triton_fleet.core.reads import ReadCache
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.spec.endpoint import S3, Archive, Mode, PackedArchive, in_s3
from triton_fleet.spec.source import Mark, cannot_run_at, finding_at
from triton_fleet.store.sources.copy import CopySource
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.s3_object import S3Location
from triton_fleet.store.sources.s3_source import S3ArchiveSource, S3PrefixSource
from triton_fleet.store.sources.source import ArchiveSource

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

OUTSIDE = "FL471"


def spec_path(mark: Mark, name: str) -> Path:
    """Where a path leads from the file that names it, links followed; it need not exist.

    A spec that is in no work tree and no fleet, such as a draft, may name any path.

    Raises:
        FindingsError: it leads out of the tree, or into what Git or this product keeps for itself.
        OSError: a name is too long.
        RuntimeError: links lead in a circle.
    """
    folder = mark.file.parent
    real, tree = (folder / name).resolve(), reviewed_tree(folder)
    if tree is None:
        return real
    if not real.is_relative_to(tree):
        problem, hint = f"outside of {tree}", "move it there"
    elif own := PRIVATE_NAMES.intersection(real.relative_to(tree).parts):
        problem, hint = f"into {min(own)}, which no commit holds", "name a folder that is in the repository"
    else:
        return real
    message = f"{name} leads to {real}, {problem}: that place changes without a review"
    raise FindingsError([finding_at(mark, OUTSIDE, message, f"{hint}: a spec cannot `allow` it")])


def reviewed_tree(folder: Path) -> Path | None:
    """The root of the Git work tree that a folder is in, else of its fleet; None if it is in neither."""
    return next(git_tops(folder), None) or real_project_root(folder)


Connect: TypeAlias = "Callable[[], S3Client]"
"""Creates the client of S3; called only if a repository is in S3."""


def no_s3() -> S3Client:
    """The stand-in for `Connect` where S3 may not be read.

    Raises:
        CannotRunError: always.
    """
    raise CannotRunError("a repository is in S3, which this command does not read")


Sources: TypeAlias = dict[tuple[int, ServingContainer], FolderSource]


class SpecRepositories:
    """The folders that a spec names as repositories, each read once."""

    def __init__(
        self, loaded_spec: LoadedSpec, contents: Sequence[Contents] = (), sources: Sources | None = None
    ) -> None:
        """Read the folders as they are needed.

        Args:
            loaded_spec: The spec.
            contents: Those that are read already, in the order of `models`.
            sources: Is filled; several specs of the same repositories may share it.
        """
        self.loaded_spec = loaded_spec
        self.place: ReadCache[int, Path] = ReadCache(lambda index: repository_of(loaded_spec, index))
        """Where the repository of an entry of `models` is, as by `repository_of`."""
        self._contents = dict(enumerate(contents))
        self._sources: Sources = {} if sources is None else sources
        self._late: Mapping[int, Collection[str]] = {}

    def contents(self, index: int) -> Contents:
        """The repository of an entry of `models`.

        Raises:
            FindingsError: the folder does not exist, the place is the line of the spec; or it cannot be read.
        """
        if index not in self._contents:
            self._contents[index] = read_folder(self.place(index), is_packed=True)
        return self._contents[index]

    def folder(self, index: int) -> FolderSource:
        """The same, as its container would load it.

        Raises:
            FindingsError: as `contents`.
        """
        container = serving_container(self.loaded_spec, self.loaded_spec.spec.models[index])
        container = replace(container, engine_models=container.engine_models.union(self._late.get(index, ())))
        if (index, container) not in self._sources:
            self._sources[index, container] = FolderSource(self.contents(index), container)
        return self._sources[index, container]

    def expect(self, late: Mapping[int, Collection[str]]) -> None:
        """Do not miss files of these models, by entry of `models`: this clone has yet to get them."""
        self._late = late


def serving_container(loaded_spec: LoadedSpec, archive: Archive) -> ServingContainer:
    """The container that a spec puts one of its repositories into."""
    spec = loaded_spec.spec
    return ServingContainer(
        multi_model=spec.mode is Mode.MULTI_MODEL,
        loads_all_models=spec.mode is Mode.SHARED_CONTAINER,
        release=spec.triton,
        default_model=spec.default_model if spec.mode is Mode.SINGLE else None,
        further=frozenset(spec.container.further_models),
        engine_models=built_models(archive),
        own_image=spec.own_image is not None,
    )


def source_of(repositories: SpecRepositories, archive_source: PackedArchive, s3: Connect) -> ArchiveSource:
    """The source of one of the endpoint's archives.

    Raises:
        FindingsError: a folder does not exist, or copies would need a repository in S3; the place is the
            line of the spec.
        CannotRunError: S3 is needed and cannot be called.
    """
    loaded_spec = repositories.loaded_spec
    archive = loaded_spec.spec.models[archive_source.index]
    if not in_s3(archive):
        return folder_source(repositories, archive_source)
    if archive_source.copy is not None:
        message = f"the models of {archive.repository} cannot be renamed: `copies` needs a folder"
        hint = "leave `copies` out, or download the repository and write its folder"
        mark = loaded_spec.source.mark(("models", archive_source.index, "copies"))
        raise FindingsError([finding_at(mark, "FL313", message, hint)])
    bucket, _, key = archive.repository.removeprefix(S3).partition("/")
    mark = loaded_spec.source.mark(("models", archive_source.index, "repository"))
    location = S3Location(bucket=bucket, key=key, mark=mark)
    is_prefix = key.endswith("/") or not key
    source = S3PrefixSource if is_prefix else S3ArchiveSource
    with cannot_run_at(mark):
        client = s3()
    return source(client, location, archive.digest, serving_container(loaded_spec, archive))


def folder_source(repositories: SpecRepositories, archive: PackedArchive) -> FolderSource | CopySource:
    """The source of an archive whose repository is a folder.

    Raises:
        FindingsError: the folder does not exist; the place is the line of the spec.
    """
    folder = repositories.folder(archive.index)
    return folder if archive.copy is None else CopySource(folder, archive.copy)


def built_models(archive: Archive) -> frozenset[str]:
    """The models that get an engine, by their names in the repository."""
    return frozenset(engine.model for engine in archive.engines)


def repository_of(loaded_spec: LoadedSpec, index: int) -> Path:
    """The folder of one of the endpoint's model repositories.

    Raises:
        FindingsError: the folder does not exist, or is outside of the tree; the place is that of the spec.
    """
    mark = loaded_spec.source.mark(("models", index, "repository"))
    hint = f"a path is relative to {mark.file.parent}"
    try:
        repository = spec_path(mark, loaded_spec.spec.models[index].repository)
        if repository.is_dir():
            return repository
        message = f"{repository} {'is not a folder' if repository.exists() else 'does not exist'}"
    except (OSError, RuntimeError) as error:  # too long a name, or a cycle of links
        message = f"the folder cannot be read: {getattr(error, 'strerror', None) or error}"
    raise FindingsError([finding_at(mark, "FL401", message, hint)])
