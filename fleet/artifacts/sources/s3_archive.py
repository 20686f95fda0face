"""A model repository in an archive in S3: its tar stream passes through unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.artifacts.archive import Checksums, DigestWriter, Entry
from fleet.artifacts.sources.s3_object import S3Location, compare_digest, object_chunks
from fleet.artifacts.sources.skeleton import served_in
from fleet.core.tar_writer import Sink
from fleet.findings import FindingsError
from fleet.repository.kept_files import KeptFiles
from fleet.repository.reading.archive import strict_members
from fleet.repository.reading.collector import Collector
from fleet.repository.reading.stream import ChunkStream, CutOffError, Part, UnreadableError
from fleet.repository.reading.tar import CUT_OFF
from fleet.spec.endpoint import Mode
from fleet.spec.source import finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

HINT = (
    "create it again from plain folders and files:"
    " `tar -C REPOSITORY --exclude='*/.*' --exclude=__pycache__ -czf ARCHIVE .`"
)


class S3ArchiveSource:
    """One object, `.tar.gz`; `expected` is the digest of the tar stream inside."""

    def __init__(self, s3: S3Client, location: S3Location, expected: str | None) -> None:
        self._s3, self._location, self._expected = s3, location, expected
        self._written: tuple[Collector, KeptFiles] | None = None

    def write(self, sink: Sink) -> Checksums:
        """Pass the tar stream on and check its entries.

        Raises:
            FindingsError: it does not exist, is not as expected, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        checksums, gathered = Checksums(), self._collector()
        for entry in self._entries(DigestWriter(sink), gathered):
            for _ in checksums.observe(entry):
                pass
        self._written = gathered, checksums.kept
        return checksums

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order; the content of each is read before the next is.

        Raises:
            FindingsError: as for `write`.
            CannotRunError: S3 refuses or does not answer.
        """
        return self._entries(DigestWriter(), self._collector())

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories; reads the archive, unless `write` has read it.

        Raises:
            FindingsError: as `write` does, or the container could not serve them.
            CannotRunError: S3 refuses or does not answer.
        """
        if self._written is None:
            self.write(DigestWriter())
        assert self._written is not None  # noqa: S101 - set by `write`
        with self._refusals():
            return served_in(*self._written, mode, self._location)

    def _collector(self) -> Collector:
        return Collector(Path(self._location.url), archive=True, unique=True)

    def _entries(self, stream: DigestWriter, gathered: Collector) -> Iterator[Entry]:
        packed = ChunkStream(object_chunks(self._s3, self._location))
        with self._refusals():
            for path, member in strict_members(packed, gathered, stream.write):
                content = None if member.is_folder else partial(self._chunks, member.content)
                yield Entry(path, member.content.size, content)
        compare_digest(self._location, self._expected, stream.digest)

    def _chunks(self, content: Part) -> Iterator[bytes]:
        with self._refusals():
            yield from content.pieces()
            if content.left:
                raise CutOffError(CUT_OFF)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            message = f"{self._location.url} cannot be packed: {error}"
            raise FindingsError([finding_at(self._location.mark, "FL310", message, HINT)]) from error
