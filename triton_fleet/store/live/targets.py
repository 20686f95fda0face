"""The targets of a live set in S3: which exist, and which contents their names have had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.store.content_store import DIGEST, digest_of, list_objects
from triton_fleet.store.live.live_set import TARGET, LiveSet

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

HEADS = 16
"""Parallel requests for objects."""
UNKNOWN = ""
"""The digest of an archive that was uploaded by hand."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target model; size in bytes and time are None if the archive does not exist."""

    name: str
    is_declared: bool
    size: int | None = None
    modified: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Past:
    """The latest content of a target's name; `version_id` is None if only the spec has it."""

    version_id: str | None
    is_there: bool


def targets_of(s3: S3Client, live: LiveSet) -> list[Target]:
    """The existing targets and those of the spec, by name."""
    found = {
        key.removeprefix(live.prefix): entry
        for key, entry in list_objects(s3, live.deployment.bucket, live.prefix).items()
    }
    there = [
        Target(name=name, is_declared=name in live.declared, size=entry.size, modified=entry.modified)
        for name, entry in found.items()
    ]
    lacking = [Target(name=name, is_declared=True) for name in live.declared if name not in found]
    return sorted(there + lacking, key=lambda target: target.name)


def digests_of(s3: S3Client, live: LiveSet, targets: list[str]) -> dict[str, str]:
    """The digests of tar streams by target, `UNKNOWN` if an archive has none."""
    found = all_in_parallel(
        targets, lambda name: digest_of(s3, live.deployment.bucket, live.key(name)), HEADS
    )
    return {name: digest for name, digest in zip(targets, found, strict=True) if digest is not None}


def versions_of(s3: S3Client, live: LiveSet, archive: str) -> dict[int, Past]:
    """The known targets `ARCHIVE-vVERSION.tar.gz` by version, also removed ones.

    A removed one is known while the bucket keeps its object, as an instance may still serve it.
    """
    known: dict[int, Past] = {}
    for key, version_id, is_there in _objects(s3, live.deployment.bucket, live.key(f"{archive}-v")):
        version = _version(key.removeprefix(live.prefix), archive)
        if version is not None:
            known.setdefault(version, Past(version_id=version_id, is_there=is_there))
    for target in live.declared:
        version = _version(target, archive)
        if version is not None:
            known.setdefault(version, Past(version_id=None, is_there=False))
    return known


def digest_of_target(s3: S3Client, live: LiveSet, target: str, past: Past) -> str:
    """The digest of the content that a target's name has or had."""
    if past.version_id is None:
        return live.declared[target]
    head = s3.head_object(Bucket=live.deployment.bucket, Key=live.key(target), VersionId=past.version_id)
    return head["Metadata"].get(DIGEST, UNKNOWN)


def _version(target: str, archive: str) -> int | None:
    match = TARGET.fullmatch(target)
    return int(match["version"]) if match and match["archive"] == archive else None


def _objects(s3: S3Client, bucket: str, prefix: str) -> Iterator[tuple[str, str, bool]]:
    """Keys with the id of an object and whether it is current; for each key the latest object first."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix):
        for found in page.get("Versions", []):
            yield found["Key"], found["VersionId"], found["IsLatest"]
