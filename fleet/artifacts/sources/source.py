"""What an archive is packed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fleet.artifacts.archive import Checksums, DigestWriter, Sink
from fleet.spec.endpoint import Mode


@dataclass(frozen=True, kw_only=True)
class ArchiveMeasurement:
    """An archive that was read: digest and size in bytes of its tar stream, models and files inside."""

    digest: str
    size: int
    models: tuple[str, ...]
    checksums: Checksums


class ArchiveSource(Protocol):
    """A model repository somewhere, as a tar stream."""

    def write(self, sink: Sink) -> Checksums:
        """Write the whole tar stream; the same bytes each time.

        Raises:
            FindingsError: it cannot be packed, or changes while it is read.
        """

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories inside, sorted, as far as the container of that mode would serve them.

        Raises:
            FindingsError: it would not.
        """


def measure(source: ArchiveSource, mode: Mode, *, layout_first: bool = True) -> ArchiveMeasurement:
    """Read an archive without keeping it.

    Of a folder, what is wrong with its layout is known at once; what lies in S3 is read once for both if
    `layout_first` is not set.

    Raises:
        FindingsError: it cannot be packed or not be served, or changes while it is read.
        CannotRunError: S3 refuses or does not answer.
    """
    models, stream = source.models(mode) if layout_first else (), DigestWriter()
    checksums = source.write(stream)
    models = models if layout_first else source.models(mode)
    return ArchiveMeasurement(digest=stream.digest, size=stream.size, models=models, checksums=checksums)
