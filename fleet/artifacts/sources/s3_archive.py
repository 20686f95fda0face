"""A model repository in an archive in S3: its tar stream passes through as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from isal import isal_zlib

from fleet.artifacts.archive import ONNX, Checksums, DigestWriter, Sink
from fleet.artifacts.sources.gunzip import gunzip
from fleet.artifacts.sources.s3_digest import compare_digest
from fleet.artifacts.sources.s3_object import S3Location, object_chunks
from fleet.artifacts.sources.skeleton import Configs, served_in
from fleet.artifacts.sources.tar_stream import Passing, TarEntry, tar_entries
from fleet.artifacts.sources.tree import Tree, UntrustedError
from fleet.findings import FindingsError
from fleet.repository.layout import belongs
from fleet.spec.endpoint import Mode
from fleet.spec.source import finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

HINT = (
    "make it anew of plain folders and files:"
    " `tar -C REPOSITORY --exclude='*/.*' --exclude=__pycache__ -czf ARCHIVE .`"
)


class S3ArchiveSource:
    """One object, `.tar.gz`; `expected` is the digest of the tar stream inside."""

    def __init__(self, s3: S3Client, location: S3Location, expected: str | None) -> None:
        self._s3, self._location, self._expected = s3, location, expected
        self._seen: tuple[Tree, Configs] | None = None

    def write(self, sink: Sink) -> Checksums:
        """Pass the tar stream on, while its entries are looked at.

        Raises:
            FindingsError: it is not there or not as expected, holds what must not be packed, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        checksums, tree, configs = Checksums(), Tree(), Configs()
        stream = DigestWriter(sink)
        chunks = gunzip(object_chunks(self._s3, self._location))
        try:
            for entry, content in tar_entries(Passing(chunks, stream)):
                _take(entry, content, tree, configs, checksums)
        except UntrustedError as error:
            message = f"{self._location.url} cannot be packed: {error}"
            raise FindingsError([finding_at(self._location.mark, "FL310", message, HINT)]) from error
        compare_digest(self._location, self._expected, stream.digest)
        self._seen = tree, configs
        return checksums

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories; the archive is read for them, unless it has been written.

        Raises:
            FindingsError: as `write` does, or the container could not serve them.
            CannotRunError: S3 refuses or does not answer.
        """
        if self._seen is None:
            self.write(DigestWriter())
        assert self._seen is not None  # noqa: S101 - `write` has seen to it
        return served_in(*self._seen, mode, self._location)


def _take(
    entry: TarEntry, content: Iterator[bytes], tree: Tree, configs: Configs, checksums: Checksums
) -> None:
    path = entry.path
    if entry.is_folder:
        if path:
            tree.folder(path)
            _refuse_left_out(path)
        return
    tree.file(path, entry.size)
    _refuse_left_out(path)
    config = bytearray() if configs.wanted(path, entry.size) else None
    crc, digest = 0, hashlib.sha256() if path.endswith(ONNX) else None
    for piece in content:
        crc = isal_zlib.crc32(piece, crc)
        if digest is not None:
            digest.update(piece)
        if config is not None:
            config += piece
    checksums.files[path] = f"crc32:{crc:08x}"
    if digest is not None:
        checksums.onnx[path] = f"sha256:{digest.hexdigest()}"
    if config is not None:
        configs[path] = bytes(config)


def _refuse_left_out(path: str) -> None:
    """A folder is packed without these; an archive cannot be, as it passes through as it is."""
    if not all(map(belongs, path.split("/"))):
        raise UntrustedError(f"{path!r} is hidden or was left by Python, and is no part of a repository")
