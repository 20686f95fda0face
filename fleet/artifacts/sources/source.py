"""The source of an archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fleet.artifacts.archive import Checksums, DigestWriter, EntrySource
from fleet.spec.endpoint import Mode


@dataclass(frozen=True, kw_only=True)
class ArchiveMeasurement:
    """An archive that was read: digest and size in bytes of its tar stream, models and files inside."""

    digest: str
    size: int
    models: tuple[str, ...]
    checksums: Checksums


class ArchiveSource(EntrySource, Protocol):
    """A model repository that a container can serve."""

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories inside, sorted, for a container of that mode.

        Raises:
            FindingsError: the container would not serve them.
        """


def measure(source: ArchiveSource, mode: Mode, *, layout_first: bool = True) -> ArchiveMeasurement:
    """Read an archive without keeping it.

    A folder's layout is checked first, which is fast; without `layout_first`, a repository in S3 is read only
    once for both.

    Raises:
        FindingsError: it cannot be packed or served, or changes while it is read.
        CannotRunError: S3 refuses or does not answer.
    """
    models, stream = source.models(mode) if layout_first else (), DigestWriter()
    checksums = source.write(stream)
    models = models if layout_first else source.models(mode)
    return ArchiveMeasurement(digest=stream.digest, size=stream.size, models=models, checksums=checksums)
