"""A model repository in S3: its objects below a prefix, or one archive."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository import contents
from triton_fleet.repository.entry_path import belongs, packing_key, require_plain
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.archive import strict_members
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.file_store import FileStore
from triton_fleet.repository.reading.gunzip import Bounds
from triton_fleet.repository.reading.tar import CUT_OFF
from triton_fleet.repository.stream import ChunkStream, CutOffError, Part, UnreadableError
from triton_fleet.spec.source import finding_at
from triton_fleet.store.archive import Checksums, DigestWriter, Entry, write_tar
from triton_fleet.store.sources.s3_object import (
    S3Location,
    compare_digest,
    object_chunks,
    s3_errors_as_findings,
)
from triton_fleet.store.sources.source import RepositorySource

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class S3Source(RepositorySource):
    """A repository in S3; `digest` is the digest of its tar stream."""

    hint: str
    """The remedy for what cannot be packed."""

    def __init__(
        self, s3: S3Client, location: S3Location, digest: str | None, container: ServingContainer
    ) -> None:
        super().__init__(container)
        self._s3, self._location, self._spec_digest = s3, location, digest
        self._is_read = False

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream and check its entries.

        Raises:
            FindingsError: it does not exist, is not as expected, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        collector, stream = self._collector(), DigestWriter(sink)
        checksums = self._write(stream, collector)
        compare_digest(self._location, self._spec_digest, stream.digest)
        self.contents, self._is_read = replace(collector.contents(), is_packed=True), True
        return checksums

    def served_models(self) -> tuple[str, ...]:
        """The model directories, sorted; the repository is read, unless `write` has read it.

        Findings are at the place of the spec.

        Raises:
            FindingsError: as `write` does, or the container could not serve it, or a config is too large.
            CannotRunError: S3 refuses or does not answer.
        """
        if not self._is_read:
            self.write(DigestWriter())
        with self._refusals():
            for finding in self.contents.findings:
                if finding.file and finding.file.name == CONFIG:
                    raise UnreadableError(finding.message)
        try:
            return super().served_models()
        except FindingsError as error:
            raise FindingsError(list(map(self._at_spec, error.findings))) from error

    @abstractmethod
    def _write(self, stream: DigestWriter, collector: Collector) -> Checksums:
        """Write the tar stream; `collector` gets its entries."""

    def _collector(self) -> Collector:
        return Collector(Path(self._location.url), archive=False, unique=True)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            message = f"{self._location.url} cannot be packed: {error}"
            raise FindingsError([finding_at(self._location.mark, "FL310", message, self.hint)]) from error

    def _at_spec(self, finding: Finding) -> Finding:
        place, mark = Path(self._location.url), self._location.mark
        within = finding.file.relative_to(place).as_posix() if finding.file else "."
        below = "" if within == "." else f" ({within})"
        return replace(
            finding,
            message=f"{self._location.url}{below}: {finding.message}",
            file=mark.file,
            line=mark.line,
            column=mark.column,
        )


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
        compare_digest(self._location, self._spec_digest, stream.digest)

    def _write(self, stream: DigestWriter, collector: Collector) -> Checksums:
        checksums = Checksums()
        for entry in self._entries(stream, collector):
            for _ in checksums.observe(entry):
                pass
        return checksums

    def _entries(self, stream: DigestWriter, collector: Collector) -> Iterator[Entry]:
        gzip_stream = ChunkStream(object_chunks(self._s3, self._location))
        store = FileStore(collector, Bounds(packed_size=0))
        with self._refusals():
            for path, member in strict_members(gzip_stream, collector, stream.write):
                content = None if member.is_folder else partial(self._chunks, store, path, member.content)
                yield Entry(path, member.content.size, content)

    def _chunks(self, store: FileStore, path: str, content: Part) -> Iterator[bytes]:
        with self._refusals():
            yield from store.watch(path, content.size, content.pieces())
            if content.remaining_size:
                raise CutOffError(CUT_OFF)


class S3PrefixSource(S3Source):
    """All objects below a prefix, as they are listed; the archive of them has the expected digest.

    Hidden names are left out, as for a folder. An empty object whose key ends in a slash, as the S3 console
    creates it, is a folder.
    """

    hint = "keep plain names of folders and files below the prefix"

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order.

        Raises:
            FindingsError: it does not exist, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        return self._entries(self._collector())

    def _write(self, stream: DigestWriter, collector: Collector) -> Checksums:
        return write_tar(self._entries(collector), stream)

    def _entries(self, collector: Collector) -> Iterator[Entry]:
        with self._refusals():
            etags = self._list_objects(collector)
        store = FileStore(collector, Bounds(packed_size=0))
        sizes = {**dict.fromkeys(collector.folders()), **dict(collector.files())}
        for path in sorted(sizes, key=lambda path: packing_key(path, is_folder=sizes[path] is None)):
            yield self._entry(path, sizes[path], etags.get(path), store)

    def _list_objects(self, collector: Collector) -> dict[str, str]:
        """Add the repository's paths; the ETag of each file."""
        location, etags, has_objects = self._location, dict[str, str](), False
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=location.bucket, Prefix=location.key
        )
        with s3_errors_as_findings(location):
            for page in pages:
                for entry in page.get("Contents", []):
                    has_objects = True
                    path, size = entry["Key"].removeprefix(location.key), entry["Size"]
                    if _add(collector, path, size):
                        etags[path] = entry["ETag"]
        if not has_objects:
            hint = "correct `repository`, or upload it there"
            raise FindingsError([finding_at(location.mark, "FL309", f"{location.url}: no objects", hint)])
        return etags

    def _entry(self, path: str, size: int | None, etag: str | None, store: FileStore) -> Entry:
        if size is None or etag is None:
            return Entry(path)
        file = replace(self._location, key=self._location.key + path)
        return Entry(path, size, lambda: store.watch(path, size, object_chunks(self._s3, file, etag, size)))


def _add(collector: Collector, path: str, size: int) -> bool:
    """Add a key's file or folder; return whether it is a file of the repository."""
    name = path.removesuffix("/")
    is_folder = name != path or not path
    if is_folder and size:
        raise UnreadableError(f"{path!r} has content, but its name is a folder's")
    if not name:
        return False
    require_plain(name)
    parts = name.split("/")
    names = list(takewhile(belongs, parts))
    if is_folder or names != parts:
        # A hidden file still implies its folder, as on a disk.
        collector.paths.add_above("/".join([*names, ""]))
        return False
    collector.add(path, contents.Entry(contents.EntryKind.FILE, size))
    return True
