"""The images that an environment's builds made, from their records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.builds.images.object_keys import BUILT, MANIFEST
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_locks
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.content_store import list_objects
from triton_fleet.store.images.record import build_record, built_image

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

READS_AT_ONCE = 16
NO_REPOSITORY = "RepositoryNotFoundException"


@dataclass(frozen=True, kw_only=True)
class HeldImage:
    """One image.

    Attributes:
        key: Its key.
        digest: The manifest's.
        exists: Whether the repository still has it.
        triton: The release that is inside; None unknown, as for the next two.
        cuda: The version.
        tensorrt: The version.
        size: Bytes on disk; None where Docker did not know.
        built: The time in UTC: `2026-07-06T08:00:00+00:00`.
        needed_by: The endpoints of all locks of the environment that run it.
    """

    key: str
    digest: str
    exists: bool
    triton: str | None
    cuda: str | None
    tensorrt: str | None
    size: int | None
    built: str
    needed_by: tuple[str, ...]


def held_images(s3: S3Client, ecr: Any, deployment: Deployment, locks: Path) -> list[HeldImage]:
    """The images of an environment, the newest last; `locks` is the folder of its locks.

    Raises:
        FindingsError: a lock or a record cannot be read.
        ClientError: access is denied.
    """
    needed, digests = endpoints_by_image(locks), stored_digests(ecr, deployment.image_repository)
    keys = _recorded_keys(s3, deployment)
    found = all_in_parallel(keys, lambda key: built_image(s3, deployment, key), READS_AT_ONCE)
    images = [
        HeldImage(
            key=each.record.key,
            digest=each.record.digest,
            exists=each.record.digest in digests,
            triton=each.facts.triton,
            cuda=each.facts.cuda,
            tensorrt=each.facts.tensorrt,
            size=each.record.size,
            built=each.record.ended.astimezone(UTC).isoformat(timespec="seconds"),
            needed_by=needed.get(each.record.digest, ()) + needed.get(hexadecimal(each.record.key), ()),
        )
        for each in found
        if each is not None
    ]
    return sorted(images, key=lambda each: (each.built, each.key))


def former_repositories(s3: S3Client, deployment: Deployment) -> Mapping[str, int]:
    """The repositories that the environment had under another `kms_key`: how many records are of each.

    What cannot be read is left out.

    Raises:
        ClientError: access is denied.
    """

    def repository(key: str) -> str | None:
        with suppress(FindingsError):
            record = build_record(s3, deployment.bucket, key)
            return record.repository if record is not None else None
        return None

    found = all_in_parallel(_recorded_keys(s3, deployment), repository, READS_AT_ONCE)
    return Counter(sorted(each for each in found if each not in (None, deployment.image_repository)))


def _recorded_keys(s3: S3Client, deployment: Deployment) -> list[str]:
    end = f"/{MANIFEST}"
    listed = [key for key in list_objects(s3, deployment.bucket, BUILT) if key.endswith(end)]
    return [f"sha256:{key.removeprefix(BUILT).removesuffix(end)}" for key in listed]


def endpoints_by_image(locks: Path) -> Mapping[str, tuple[str, ...]]:
    """The endpoints whose locks name an image, by its digest, or by its tag before a lock has the digest.

    Raises:
        FindingsError: a lock cannot be read.
    """
    needed = defaultdict[str, list[str]](list)
    for lock in load_locks(locks):
        if lock.image is not None:
            needed[lock.image.reference].append(lock.endpoint)
    return {reference: tuple(names) for reference, names in needed.items()}


def stored_digests(ecr: Any, repository: str) -> frozenset[str]:
    """The digests that a repository has; none where there is no repository."""
    pages = ecr.get_paginator("list_images").paginate(repositoryName=repository)
    try:
        return frozenset(each["imageDigest"] for page in pages for each in page["imageIds"])
    except ClientError as error:
        if error.response["Error"]["Code"] == NO_REPOSITORY:
            return frozenset()
        raise
