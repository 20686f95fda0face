"""The source of an archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fleet.artifacts.archive import Checksums, DigestWriter, Sink
from fleet.spec.lock import LockedModel


@dataclass(frozen=True, kw_only=True)
class ArchiveMeasurement:
    """An archive that was read: digest and size in bytes of its tar stream, models and files inside."""

    digest: str
    size: int
    models: dict[str, LockedModel]
    checksums: Checksums


class ArchiveSource(Protocol):
    """A model repository somewhere, as a tar stream."""

    def write(self, sink: Sink) -> Checksums:
        """Write the whole tar stream; the same bytes each time.

        Raises:
            FindingsError: it cannot be packed, or changes while it is read.
        """

    def served_models(self) -> tuple[str, ...]:
        """The model directories that its container serves, sorted.

        Raises:
            FindingsError: the container would not serve them.
        """

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of the models that its container serves, with sizes as `write` has packed them.

        Raises:
            FindingsError: the container would not serve them.
        """


def measure(source: ArchiveSource, *, layout_first: bool = True) -> ArchiveMeasurement:
    """Read an archive without keeping it.

    A folder's layout is checked first, which is fast; without `layout_first`, a repository in S3 is read only
    once for both.

    Raises:
        FindingsError: it cannot be packed or served, or changes while it is read.
        CannotRunError: S3 refuses or does not answer.
    """
    if layout_first:
        source.served_models()
    stream = DigestWriter()
    checksums = source.write(stream)
    return ArchiveMeasurement(
        digest=stream.digest, size=stream.size, models=source.models(checksums), checksums=checksums
    )
