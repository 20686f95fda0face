"""A model repository in the objects below a prefix of S3, packed like a folder of the same files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from fleet.artifacts.archive import Checksums, DigestWriter, Entry, Sink, write_tar
from fleet.artifacts.sources.s3_object import S3Location, compare_digest, object_chunks, s3_errors_as_findings
from fleet.artifacts.sources.skeleton import served_in
from fleet.artifacts.sources.tree import Tree, UntrustedError, check_path
from fleet.findings import FindingsError
from fleet.repository.kept_files import KeptFiles, is_config
from fleet.repository.loading.container import ServingContainer
from fleet.repository.reading.entry_path import belongs
from fleet.spec.lock import LockedModel
from fleet.spec.source import finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class S3PrefixSource:
    """All objects below a prefix, as first listed; `expected` is the digest of the archive.

    Hidden names are left out, as for a folder. An empty object whose key ends in a slash, as the S3 console
    creates it, is a folder.
    """

    def __init__(
        self, s3: S3Client, location: S3Location, expected: str | None, container: ServingContainer
    ) -> None:
        self._s3, self._location, self._expected = s3, location, expected
        self._container = container
        self._written: KeptFiles | None = None

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream.

        Raises:
            FindingsError: it does not exist, is not as expected, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        tree, etags = self._list_objects
        stream = DigestWriter(sink)
        entries = (self._entry(path, size, etags.get(path)) for path, size in tree.ordered())
        checksums = write_tar(entries, stream)
        compare_digest(self._location, self._expected, stream.digest)
        self._written = checksums.kept
        return checksums

    def served_models(self) -> tuple[str, ...]:
        """The model directories.

        Raises:
            FindingsError: as `models` does.
            CannotRunError: S3 refuses or does not answer.
        """
        return tuple(self.models())

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of the models; reads only their configurations, unless `write` has read everything.

        Raises:
            FindingsError: the container could not serve them, or they do not exist or change.
            CannotRunError: S3 refuses or does not answer.
        """
        tree, etags = self._list_objects
        try:
            return served_in(
                tree, self._written or self._configs(tree, etags), self._container, self._location
            )
        except UntrustedError as error:
            raise self._access_error(error) from error

    def _configs(self, tree: Tree, etags: dict[str, str]) -> KeptFiles:
        kept = KeptFiles()
        for path, size in tree.files.items():
            if is_config(path) and kept.add(path, size):
                kept.keep(path, b"".join(self._chunks(path, size, etags[path])))
        return kept

    @cached_property
    def _list_objects(self) -> tuple[Tree, dict[str, str]]:
        """The repository's paths, and the ETag of each file."""
        place, tree, etags, found = self._location, Tree(), dict[str, str](), False
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=place.bucket, Prefix=place.key)
        try:
            with s3_errors_as_findings(place):
                for page in pages:
                    for listed in page.get("Contents", []):
                        found = True
                        path, size = listed["Key"].removeprefix(place.key), listed["Size"]
                        if _add(tree, path, size):
                            etags[path] = listed["ETag"]
        except UntrustedError as error:
            raise self._access_error(error) from error
        if not found:
            hint = "correct `repository`, or upload it there"
            raise FindingsError([finding_at(place.mark, "FL309", f"{place.url}: no objects", hint)])
        return tree, etags

    def _entry(self, path: str, size: int | None, etag: str | None) -> Entry:
        if size is None or etag is None:
            return Entry(path)
        return Entry(path, size, lambda: self._chunks(path, size, etag))

    def _chunks(self, path: str, size: int, etag: str) -> Iterator[bytes]:
        file = replace(self._location, key=self._location.key + path)
        return object_chunks(self._s3, file, etag, size)

    def _access_error(self, error: UntrustedError) -> FindingsError:
        message = f"{self._location.url} cannot be packed: {error}"
        hint = "keep plain names of folders and files below the prefix"
        return FindingsError([finding_at(self._location.mark, "FL310", message, hint)])


def _add(tree: Tree, path: str, size: int) -> bool:
    """Add a key's file or folder; return whether it is a file of the repository."""
    name = path.removesuffix("/")
    is_folder = name != path or not path
    if is_folder and size:
        raise UntrustedError(f"{path!r} has content, but its name is a folder's")
    if not name:
        return False
    check_path(name)
    parts = name.split("/")
    kept = list(takewhile(belongs, parts))
    if is_folder or kept != parts:
        # A hidden file still implies its folder, as on a disk.
        tree.around("/".join([*kept, ""]))
        return False
    tree.file(path, size)
    return True
