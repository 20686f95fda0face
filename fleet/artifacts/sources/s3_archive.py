"""A model repository in an archive in S3: its tar stream passes through unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from isal import isal_zlib

from fleet.artifacts.archive import Checksums, DigestWriter, Sink
from fleet.artifacts.sources.s3_object import S3Location, compare_digest, object_chunks
from fleet.artifacts.sources.skeleton import served_in
from fleet.artifacts.sources.tar_stream import SinkStream, TarEntry, tar_entries
from fleet.artifacts.sources.tree import MAX_SIZE, Tree, UntrustedError
from fleet.findings import FindingsError
from fleet.repository.kept_files import KeptFiles
from fleet.repository.loading.container import ServingContainer
from fleet.repository.reading.entry_path import belongs
from fleet.spec.lock import LockedModel
from fleet.spec.source import finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

HINT = (
    "create it again from plain folders and files:"
    " `tar -C REPOSITORY --exclude='*/.*' --exclude=__pycache__ -czf ARCHIVE .`"
)


class S3ArchiveSource:
    """One object, `.tar.gz`; `expected` is the digest of the tar stream inside."""

    def __init__(
        self, s3: S3Client, location: S3Location, expected: str | None, container: ServingContainer
    ) -> None:
        self._s3, self._location, self._expected = s3, location, expected
        self._container = container
        self._seen: tuple[Tree, KeptFiles] | None = None

    def write(self, sink: Sink) -> Checksums:
        """Pass the tar stream on and check its entries.

        Raises:
            FindingsError: it does not exist, is not as expected, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        checksums, tree = Checksums(), Tree()
        stream = DigestWriter(sink)
        chunks = gunzip(object_chunks(self._s3, self._location))
        try:
            for entry, content in tar_entries(SinkStream(chunks, stream)):
                _take(entry, content, tree, checksums)
        except UntrustedError as error:
            raise self._access_error(error) from error
        compare_digest(self._location, self._expected, stream.digest)
        self._seen = tree, checksums.kept
        return checksums

    def served_models(self) -> tuple[str, ...]:
        """The model directories.

        Raises:
            FindingsError: as `models` does.
            CannotRunError: S3 refuses or does not answer.
        """
        return tuple(self.models())

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of the models; reads the archive, unless `write` has read it.

        Raises:
            FindingsError: as `write` does, or the container could not serve them.
            CannotRunError: S3 refuses or does not answer.
        """
        if self._seen is None:
            self.write(DigestWriter())
        assert self._seen is not None  # noqa: S101 - set by `write`
        try:
            return served_in(*self._seen, self._container, self._location)
        except UntrustedError as error:
            raise self._access_error(error) from error

    def _access_error(self, error: UntrustedError) -> FindingsError:
        message = f"{self._location.url} cannot be packed: {error}"
        return FindingsError([finding_at(self._location.mark, "FL310", message, HINT)])


def _take(entry: TarEntry, content: Iterator[bytes], tree: Tree, checksums: Checksums) -> None:
    path = entry.path
    if entry.is_folder:
        if path:
            tree.folder(path)
            checksums.kept.add_folder(path)
            _refuse_left_out(path)
        return
    tree.file(path, entry.size)
    _refuse_left_out(path)
    for _ in checksums.observe(path, entry.size, content):
        pass


def _refuse_left_out(path: str) -> None:
    """A folder is packed without these; an archive cannot be, as it passes through unchanged."""
    if not all(map(belongs, path.split("/"))):
        raise UntrustedError(f"{path!r} is hidden or was left by Python, and does not belong in a repository")


AT_ONCE = 1 << 20
GZIP = 31
"""zlib's number for streams with gzip's header and checksum."""


def gunzip(chunks: Iterator[bytes], limit: int = MAX_SIZE) -> Iterator[bytes]:
    """The content of a gzip stream, in pieces of at most 1 MiB; several streams in a row count as one.

    Raises:
        UntrustedError: it is not gzip, damaged, cut off, or has more than `limit` bytes.
    """
    inflate, size, begun = None, 0, False
    for chunk in chunks:
        data = chunk
        while data or inflate is not None:
            if inflate is None:
                # gzip itself treats zeros after a stream as padding.
                data = data.lstrip(b"\0") if begun else data
                if not data:
                    break
                inflate, begun = isal_zlib.decompressobj(GZIP), True
            try:
                piece = inflate.decompress(data, AT_ONCE)
            except isal_zlib.error as error:  # type: ignore[misc]  # its stub declares an instance instead of the class
                raise UntrustedError(f"it is not gzip, or damaged: {error}") from error
            size += len(piece)
            if size > limit:
                raise UntrustedError(f"it has more than {limit} bytes")
            if piece:
                yield piece
            data = inflate.unconsumed_tail
            if inflate.eof:
                data, inflate = inflate.unused_data, None
            elif not data and len(piece) < AT_ONCE:
                break
    if inflate is not None or not begun:
        raise UntrustedError("it is cut off: the end of its gzip stream is missing")
