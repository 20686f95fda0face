"""A model repository in the objects below a prefix of S3, packed like a folder of the same files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from triton_fleet.findings import FindingsError
from triton_fleet.repository import contents
from triton_fleet.repository.entry_path import belongs, packing_key, require_plain
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.file_store import FileStore
from triton_fleet.repository.reading.gunzip import Bounds
from triton_fleet.repository.stream import UnreadableError
from triton_fleet.spec.source import finding_at
from triton_fleet.store.archive import Checksums, DigestWriter, Entry, write_tar
from triton_fleet.store.sources.s3_object import object_chunks, s3_errors_as_findings
from triton_fleet.store.sources.s3_source import S3Source


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

    def _write(self, stream: DigestWriter, gathered: Collector) -> Checksums:
        return write_tar(self._entries(gathered), stream)

    def _entries(self, gathered: Collector) -> Iterator[Entry]:
        with self._refusals():
            etags = self._list_objects(gathered)
        store = FileStore(gathered, Bounds(packed=0))
        sizes = {**dict.fromkeys(gathered.folders()), **dict(gathered.files())}
        for path in sorted(sizes, key=lambda path: packing_key(path, is_folder=sizes[path] is None)):
            yield self._entry(path, sizes[path], etags.get(path), store)

    def _list_objects(self, gathered: Collector) -> dict[str, str]:
        """Add the repository's paths; the ETag of each file."""
        location, etags, found = self._location, dict[str, str](), False
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=location.bucket, Prefix=location.key
        )
        with s3_errors_as_findings(location):
            for page in pages:
                for listed in page.get("Contents", []):
                    found = True
                    path, size = listed["Key"].removeprefix(location.key), listed["Size"]
                    if _add(gathered, path, size):
                        etags[path] = listed["ETag"]
        if not found:
            hint = "correct `repository`, or upload it there"
            raise FindingsError([finding_at(location.mark, "FL309", f"{location.url}: no objects", hint)])
        return etags

    def _entry(self, path: str, size: int | None, etag: str | None, store: FileStore) -> Entry:
        if size is None or etag is None:
            return Entry(path)
        file = replace(self._location, key=self._location.key + path)
        return Entry(path, size, lambda: store.watch(path, size, object_chunks(self._s3, file, etag, size)))


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
