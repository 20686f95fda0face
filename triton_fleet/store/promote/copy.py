"""Copies contents from one environment's store to another's: on the server, else through this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import FORBIDDEN, NOT_FOUND, http_status
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.endpoint import Compression
from triton_fleet.store.archive_requirements import MAX_PARALLEL_REQUESTS, Content
from triton_fleet.store.content_store import (
    DIGEST,
    contents_key,
    copy_object,
    files_prefix,
    list_objects,
    missing_files,
    stored_files,
)
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.promote.images import Store
from triton_fleet.store.upload.object import ObjectPlace
from triton_fleet.store.upload.stream import Streams, source_object

MAX_PARALLEL_STREAMS = 8
CODE = "FL337"


@dataclass(frozen=True, kw_only=True)
class StoreObject:
    """An object of a store: its key, its size in bytes, and the digest of its tar stream."""

    name: str
    key: str
    size: int
    digest: str
    is_archive: bool


def objects_of(content: Content, source: Store) -> list[StoreObject]:
    """The objects of one content; the marker, which shows that all exist, comes last.

    Raises:
        FindingsError: the store lacks it, or has something else under its name.
    """
    try:
        head = source.s3.head_object(Bucket=source.bucket, Key=content.key)
    except ClientError as error:
        if http_status(error) != NOT_FOUND:
            raise
        raise FindingsError([_loss_finding(content, source, "is not in the store")]) from error
    is_archive = content.compression is Compression.GZIP
    size, name = head["ContentLength"], content.requirements[0].name
    last = StoreObject(name=name, key=content.key, size=size, digest=content.digest, is_archive=is_archive)
    if not is_archive:
        return [*_files(content, source), *_contents(content, source), last]
    digest = head["Metadata"].get(DIGEST)
    if digest != content.digest:
        raise FindingsError([_loss_finding(content, source, f"has the digest {digest or 'none'}")])
    return [*_contents(content, source), last]


class StoreCopy:
    """Copies objects between two stores; what the server may not copy goes through this process."""

    def __init__(self, source: Store, target: Store, progress: PublishProgress) -> None:
        self._source, self._target, self._progress = source, target, progress
        self._by_server = source.deployment.account == target.deployment.account

    def copy(self, objects: Sequence[StoreObject]) -> int:
        """Copy them in any order; return how many of them went through this process."""
        rest = self._on_the_server(objects) if self._by_server and objects else objects
        if not rest:
            return 0
        with Streams() as streams, self._progress.uploads(len(rest), sum(item.size for item in rest)):
            all_in_parallel(rest, partial(self._stream, streams), MAX_PARALLEL_STREAMS)
        return len(rest)

    def _on_the_server(self, objects: Sequence[StoreObject]) -> list[StoreObject]:
        """Copy on the server; return what it was not allowed to copy."""
        with self._progress.copies(len(objects)) as advance:

            def copy(item: StoreObject) -> StoreObject | None:
                if not self._by_server or not self._server_copies(item):
                    return item
                advance(1)
                return None

            return [
                item for item in all_in_parallel(objects, copy, MAX_PARALLEL_REQUESTS) if item is not None
            ]

    def _server_copies(self, item: StoreObject) -> bool:
        source, target = self._source, self._target
        try:
            copy_object(
                target.s3,
                source.bucket,
                item.key,
                target.bucket,
                item.key,
                item.digest,
                overwrite=not item.is_archive,
                size=item.size,
            )
        except ClientError as error:
            if http_status(error) != FORBIDDEN:
                raise
            self._by_server = False
        return self._by_server

    def _stream(self, streams: Streams, item: StoreObject) -> None:
        source, target = self._source, self._target
        source_item = source_object(source.s3, ObjectPlace(source.bucket, item.key))
        with self._progress.archive(item.name, item.size) as advance:
            streams.copy(
                source_item,
                target.s3,
                ObjectPlace(target.bucket, item.key),
                item.digest,
                advance,
                # Names of files do not depend on their content: an interrupted publish may have left others.
                only_if_new=item.is_archive,
            )


def _files(content: Content, source: Store) -> list[StoreObject]:
    files, prefix = stored_files(source.s3, source.bucket, content.digest) or {}, files_prefix(content.digest)
    absent = missing_files(source.s3, source.bucket, prefix, files)
    if absent:
        raise FindingsError([_loss_finding(content, source, f"lacks its file {absent[0]}")])
    name, digest = content.requirements[0].name, content.digest
    return [
        StoreObject(name=f"{name}/{path}", key=f"{prefix}{path}", size=size, digest=digest, is_archive=False)
        for path, size in files.items()
    ]


def _contents(content: Content, source: Store) -> list[StoreObject]:
    """The record beside an archive with engines."""
    key, first = contents_key(content.digest), content.requirements[0]
    stored_objects = (
        list_objects(source.s3, source.bucket, key) if first.artifact.repository is not None else {}
    )
    return [
        StoreObject(
            name=f"{first.name}, its contents",
            key=key,
            size=entry.size,
            digest=content.digest,
            is_archive=False,
        )
        for entry in stored_objects.values()
    ]


def _loss_finding(content: Content, source: Store, problem: str) -> Finding:
    requirement = content.requirements[0]
    message = f"{requirement.name}, s3://{source.bucket}/{content.key}, {problem}"
    environment = source.deployment.environment
    hint = f"run `fleet publish --env {environment} {requirement.endpoint.name}`, then promote again"
    return Finding(code=CODE, message=message, hint=hint)
