"""The sources of an endpoint's archives, from its spec."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from triton_fleet.core.read_cache import ReadCache
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.container import ServingContainer
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.spec.endpoint import S3, Archive, Mode, PackedArchive, in_s3
from triton_fleet.spec.source import cannot_run_at, finding_at
from triton_fleet.store.sources.copy import CopySource
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.s3_archive import S3ArchiveSource
from triton_fleet.store.sources.s3_object import S3Location
from triton_fleet.store.sources.s3_prefix import S3PrefixSource
from triton_fleet.store.sources.source import ArchiveSource
from triton_fleet.store.sources.spec_path import spec_path

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

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
        self, loaded: LoadedSpec, contents: Sequence[Contents] = (), sources: Sources | None = None
    ) -> None:
        """Read the folders as they are needed.

        Args:
            loaded: The spec.
            contents: Those that are read already, in the order of `models`.
            sources: Is filled; several specs of the same repositories may share it.
        """
        self.loaded = loaded
        self.place = ReadCache[int, Path](lambda index: repository_of(loaded, index))
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
            self._contents[index] = read_folder(self.place(index), packed=True)
        return self._contents[index]

    def folder(self, index: int) -> FolderSource:
        """The same, as its container would load it.

        Raises:
            FindingsError: as `contents`.
        """
        container = serving_container(self.loaded, self.loaded.spec.models[index])
        container = replace(container, built=container.built.union(self._late.get(index, ())))
        if (index, container) not in self._sources:
            self._sources[index, container] = FolderSource(self.contents(index), container)
        return self._sources[index, container]

    def expect(self, late: Mapping[int, Collection[str]]) -> None:
        """Do not miss files of these models, by entry of `models`: this clone has yet to get them."""
        self._late = late


def serving_container(loaded: LoadedSpec, archive: Archive) -> ServingContainer:
    """The container that a spec puts one of its repositories into."""
    spec = loaded.spec
    return ServingContainer(
        multi_model=spec.mode is Mode.MULTI_MODEL,
        loads_all=spec.mode is Mode.SHARED_CONTAINER,
        release=spec.triton,
        default_model=spec.default_model if spec.mode is Mode.SINGLE else None,
        further=frozenset(spec.container.further_models),
        built=built_models(archive),
        own_image=spec.own_image is not None,
    )


def source_of(repositories: SpecRepositories, packed: PackedArchive, s3: Connect) -> ArchiveSource:
    """The source of one of the endpoint's archives.

    Raises:
        FindingsError: a folder does not exist, or copies would need a repository in S3; the place is the
            line of the spec.
        CannotRunError: S3 is needed and cannot be called.
    """
    loaded = repositories.loaded
    archive = loaded.spec.models[packed.index]
    if not in_s3(archive):
        return folder_source(repositories, packed)
    if packed.copy is not None:
        message = f"the models of {archive.repository} cannot be renamed: `copies` needs a folder"
        hint = "leave `copies` out, or download the repository and write its folder"
        mark = loaded.source.mark(("models", packed.index, "copies"))
        raise FindingsError([finding_at(mark, "FL313", message, hint)])
    bucket, _, key = archive.repository.removeprefix(S3).partition("/")
    mark = loaded.source.mark(("models", packed.index, "repository"))
    location = S3Location(bucket=bucket, key=key, mark=mark)
    is_prefix = key.endswith("/") or not key
    source = S3PrefixSource if is_prefix else S3ArchiveSource
    with cannot_run_at(mark):
        client = s3()
    return source(client, location, archive.digest, serving_container(loaded, archive))


def folder_source(repositories: SpecRepositories, packed: PackedArchive) -> FolderSource | CopySource:
    """The source of an archive whose repository is a folder.

    Raises:
        FindingsError: the folder does not exist; the place is the line of the spec.
    """
    folder = repositories.folder(packed.index)
    return folder if packed.copy is None else CopySource(folder, packed.copy)


def built_models(archive: Archive) -> frozenset[str]:
    """The models that get an engine, by their names in the repository."""
    return frozenset(engine.model for engine in archive.engines)


def repository_of(loaded: LoadedSpec, index: int) -> Path:
    """The folder of one of the endpoint's model repositories.

    Raises:
        FindingsError: the folder does not exist, or is outside of the tree; the place is that of the spec.
    """
    mark = loaded.source.mark(("models", index, "repository"))
    hint = f"a path is relative to {mark.file.parent}"
    try:
        repository = spec_path(mark, loaded.spec.models[index].repository)
        if repository.is_dir():
            return repository
        message = f"{repository} {'is not a folder' if repository.exists() else 'does not exist'}"
    except (OSError, RuntimeError) as error:  # too long a name, or a cycle of links
        message = f"the folder cannot be read: {getattr(error, 'strerror', None) or error}"
    raise FindingsError([finding_at(mark, "FL401", message, hint)])
