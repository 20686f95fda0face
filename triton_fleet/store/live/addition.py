"""Adds an archive to a live set, under a name that has never had other content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.context.targets import target_model
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.store.content_store import copy_object, digest_of, store_key
from triton_fleet.store.live.live_set import LiveSet
from triton_fleet.store.live.targets import Past, digest_of_target, versions_of
from triton_fleet.store.ownership import OF_LIVE_SET, Owners
from triton_fleet.store.sources.source import ArchiveMeasurement, ArchiveSource, measure
from triton_fleet.store.upload.archives import ContentChangedError, ObjectPlace, Uploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class Addition:
    """The TargetModel for callers, and whether it existed before."""

    target: str
    was_there: bool


def add_archive(
    s3: S3Client,
    live: LiveSet,
    archive: str,
    version: int | None,
    source: ArchiveSource,
) -> Addition:
    """Put an archive into the content store, and from there into the live set.

    Without `version`, it is the latest one if that has this content, else the next one. Concurrent additions
    never get the same name for different contents.

    Raises:
        FindingsError: the container could not serve it, it changes while it is read, or the name has or had
            other content.
    """
    measured = measure(source)
    while True:
        known = versions_of(s3, live, archive)
        chosen = _latest_or_next(s3, live, archive, known, measured.digest) if version is None else version
        target = target_model(archive, chosen)
        past = known.get(chosen)
        if past is not None and digest_of_target(s3, live, target, past) != measured.digest:
            raise FindingsError([_target_conflict(live, archive, target, past, max(known) + 1)])
        if past is not None and past.is_there:
            return Addition(target=target, was_there=True)
        _store(s3, live, source, measured)
        Owners(s3, live.deployment.bucket).record(live.endpoint, [measured.digest], OF_LIVE_SET)
        bucket, stored = live.deployment.bucket, store_key(measured.digest)
        if copy_object(s3, bucket, stored, bucket, live.key(target), measured.digest, overwrite=False):
            return Addition(target=target, was_there=False)


def _latest_or_next(s3: S3Client, live: LiveSet, archive: str, known: dict[int, Past], digest: str) -> int:
    latest = max(known, default=0)
    if latest and digest_of_target(s3, live, target_model(archive, latest), known[latest]) == digest:
        return latest
    return latest + 1


def _store(s3: S3Client, live: LiveSet, source: ArchiveSource, measured: ArchiveMeasurement) -> None:
    place = ObjectPlace(live.deployment.bucket, store_key(measured.digest))
    if digest_of(s3, place.bucket, place.key) is None:
        try:
            with Uploads(s3) as uploads:
                uploads.archive(place, source.write, digest=measured.digest, size=measured.size)
        except ContentChangedError as error:
            message, hint = "the repository changed while it was packed", "wait until its writer has finished"
            raise FindingsError([Finding(code="FL305", message=message, hint=hint)]) from error


def _target_conflict(live: LiveSet, archive: str, target: str, past: Past, free: int) -> Finding:
    if past.is_there:
        message = f"{target} of {live.endpoint} has other content, and a target is never overwritten"
    elif past.version_id is None:
        message = f"{target} is in the spec of {live.endpoint}, so the lock sets its content"
    else:
        message = (
            f"{target} of {live.endpoint} had other content until it was removed:"
            " an instance that has loaded it may still serve that"
        )
    hint = f"leave out --version, or pass `--version {free}`, the next free one of {archive!r}"
    return Finding(code="FL330", message=message, hint=hint)
