"""A model repository in the objects below a prefix of S3, packed like a folder of the same files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.artifacts.archive import Checksums, DigestWriter, Entry, write_tar
from fleet.artifacts.sources.s3_object import S3Location, compare_digest, object_chunks, s3_errors_as_findings
from fleet.artifacts.sources.skeleton import served_in
from fleet.core.tar_writer import Sink
from fleet.findings import FindingsError
from fleet.repository import contents
from fleet.repository.kept_files import KeptFiles, is_config
from fleet.repository.layout import belongs, place
from fleet.repository.reading.collector import Collector
from fleet.repository.reading.entry_path import require_plain
from fleet.repository.reading.stream import UnreadableError
from fleet.spec.endpoint import Mode
from fleet.spec.source import finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class S3PrefixSource:
    """All objects below a prefix, as first listed; `expected` is the digest of the archive.

    Hidden names are left out, as for a folder. An empty object whose key ends in a slash, as the S3 console
    creates it, is a folder.
    """

    def __init__(self, s3: S3Client, location: S3Location, expected: str | None) -> None:
        self._s3, self._location, self._expected = s3, location, expected
        self._written: KeptFiles | None = None

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream.

        Raises:
            FindingsError: it does not exist, is not as expected, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        stream = DigestWriter(sink)
        checksums = write_tar(self.entries(), stream)
        compare_digest(self._location, self._expected, stream.digest)
        self._written = checksums.kept
        return checksums

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order.

        Raises:
            FindingsError: it does not exist, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        gathered, etags = self._list_objects
        sizes = {**dict.fromkeys(gathered.folders()), **dict(gathered.files())}
        for path in sorted(sizes, key=lambda path: place(path, is_folder=sizes[path] is None)):
            yield self._entry(path, sizes[path], etags.get(path))

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories; reads only their configurations, unless `write` has read everything.

        Raises:
            FindingsError: the container could not serve them, or they do not exist or change.
            CannotRunError: S3 refuses or does not answer.
        """
        gathered, etags = self._list_objects
        try:
            return served_in(gathered, self._written or self._configs(gathered, etags), mode, self._location)
        except UnreadableError as error:
            raise self._access_error(error) from error

    def _configs(self, gathered: Collector, etags: dict[str, str]) -> KeptFiles:
        kept = KeptFiles()
        for path, size in gathered.files():
            if is_config(path) and kept.add(path, size):
                kept.keep(path, b"".join(self._chunks(path, size, etags[path])))
        return kept

    @cached_property
    def _list_objects(self) -> tuple[Collector, dict[str, str]]:
        """The repository's paths, and the ETag of each file."""
        location, etags, found = self._location, dict[str, str](), False
        gathered = Collector(Path(location.url), archive=False, unique=True)
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=location.bucket, Prefix=location.key
        )
        try:
            with s3_errors_as_findings(location):
                for page in pages:
                    for listed in page.get("Contents", []):
                        found = True
                        path, size = listed["Key"].removeprefix(location.key), listed["Size"]
                        if _add(gathered, path, size):
                            etags[path] = listed["ETag"]
        except UnreadableError as error:
            raise self._access_error(error) from error
        if not found:
            hint = "correct `repository`, or upload it there"
            raise FindingsError([finding_at(location.mark, "FL309", f"{location.url}: no objects", hint)])
        return gathered, etags

    def _entry(self, path: str, size: int | None, etag: str | None) -> Entry:
        if size is None or etag is None:
            return Entry(path)
        return Entry(path, size, lambda: self._chunks(path, size, etag))

    def _chunks(self, path: str, size: int, etag: str) -> Iterator[bytes]:
        file = replace(self._location, key=self._location.key + path)
        return object_chunks(self._s3, file, etag, size)

    def _access_error(self, error: UnreadableError) -> FindingsError:
        message = f"{self._location.url} cannot be packed: {error}"
        hint = "keep plain names of folders and files below the prefix"
        return FindingsError([finding_at(self._location.mark, "FL310", message, hint)])


def _add(gathered: Collector, path: str, size: int) -> bool:
    """Add a key's file or folder; return whether it is a file of the repository."""
    name = path.removesuffix("/")
    is_folder = name != path or not path
    if is_folder and size:
        raise UnreadableError(f"{path!r} has content, but its name is a folder's")
    if not name:
        return False
    require_plain(name)
    parts = name.split("/")
    kept = list(takewhile(belongs, parts))
    if is_folder or kept != parts:
        # A hidden file still implies its folder, as on a disk.
        gathered.paths.add_above("/".join([*kept, ""]))
        return False
    gathered.add(path, contents.Entry(contents.EntryKind.FILE, size))
    return True
