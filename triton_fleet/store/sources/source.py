"""The source of an archive: a model repository, as the container of an endpoint would load it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from triton_fleet.findings import FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.load_plan import LoadPlan, plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.spec.lock import LockedModel
from triton_fleet.store.archive import Checksums, DigestWriter, EntrySource
from triton_fleet.store.model_facts import model_facts


@dataclass(frozen=True, kw_only=True)
class ArchiveMeasurement:
    """An archive that was read: digest and size in bytes of its tar stream, models and files inside."""

    digest: str
    size: int
    models: dict[str, LockedModel]
    checksums: Checksums


class ArchiveSource(EntrySource, Protocol):
    """A model repository that a container may serve."""

    has_fast_layout: bool
    """Whether the layout is known before the files are read."""

    def served_models(self) -> tuple[str, ...]:
        """The model directories that its container serves, sorted.

        Raises:
            FindingsError: the container would not serve them.
        """

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of these models, with sizes as `write` has packed them.

        Raises:
            FindingsError: as `served_models`.
        """


class RepositorySource:
    """Base of the sources: models and their facts, by the repository as it is packed and by its container."""

    has_fast_layout = False

    def __init__(self, container: ServingContainer) -> None:
        self.container = container

    contents: Contents

    @cached_property
    def plan(self) -> LoadPlan:
        """The verdict of the container."""
        return plan_load(self.contents, self.container)

    def served_models(self) -> tuple[str, ...]:
        """The model directories, sorted.

        Raises:
            FindingsError: the repository cannot be packed, or the container could not serve it.
        """
        if refusals := self.plan.refusals:
            raise FindingsError(refusals)
        return tuple(self.contents.folders())

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of these models, with sizes as `write` has packed them.

        Raises:
            FindingsError: as `served_models`.
        """
        return model_facts(self.contents, self.served_models(), checksums.sizes if checksums else None)


def measure(source: ArchiveSource) -> ArchiveMeasurement:
    """Read an archive without keeping it.

    Raises:
        FindingsError: it cannot be packed or served, or changes while it is read.
        CannotRunError: S3 refuses or does not answer.
    """
    if source.has_fast_layout:
        source.served_models()
    stream = DigestWriter()
    checksums = source.write(stream)
    return ArchiveMeasurement(
        digest=stream.digest, size=stream.size, models=source.models(checksums), checksums=checksums
    )
