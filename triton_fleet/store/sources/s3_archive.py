"""A model repository in an archive in S3: its tar stream passes through unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from triton_fleet.repository.reading.archive import strict_members
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.file_store import FileStore
from triton_fleet.repository.reading.gunzip import Bounds
from triton_fleet.repository.reading.tar import CUT_OFF
from triton_fleet.repository.stream import ChunkStream, CutOffError, Part
from triton_fleet.store.archive import Checksums, DigestWriter, Entry
from triton_fleet.store.sources.s3_object import compare_digest, object_chunks
from triton_fleet.store.sources.s3_source import S3Source


class S3ArchiveSource(S3Source):
    """One object, `.tar.gz`, whose tar stream has the expected digest."""

    hint = (
        "create it again from plain folders and files:"
        " `tar -C REPOSITORY --exclude='*/.*' --exclude=__pycache__ -czf ARCHIVE .`"
    )

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order; the content of each is read before the next is.

        Raises:
            FindingsError: as for `write`.
            CannotRunError: S3 refuses or does not answer.
        """
        stream = DigestWriter()
        yield from self._entries(stream, self._collector())
        compare_digest(self._location, self._expected, stream.digest)

    def _write(self, stream: DigestWriter, gathered: Collector) -> Checksums:
        checksums = Checksums()
        for entry in self._entries(stream, gathered):
            for _ in checksums.observe(entry):
                pass
        return checksums

    def _entries(self, stream: DigestWriter, gathered: Collector) -> Iterator[Entry]:
        packed = ChunkStream(object_chunks(self._s3, self._location))
        store = FileStore(gathered, Bounds(packed=0))
        with self._refusals():
            for path, member in strict_members(packed, gathered, stream.write):
                content = None if member.is_folder else partial(self._chunks, store, path, member.content)
                yield Entry(path, member.content.size, content)

    def _chunks(self, store: FileStore, path: str, content: Part) -> Iterator[bytes]:
        with self._refusals():
            yield from store.watch(path, content.size, content.pieces())
            if content.left:
                raise CutOffError(CUT_OFF)
