"""The records of image builds in the bucket, and the images of an environment that they name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, ValidationError

from triton_fleet.awsapi.errors import SuppressErrors
from triton_fleet.builds.images.artifacts import BUILDS, MANIFEST, built_image_key
from triton_fleet.builds.images.facts import TooManyPathsError, facts_of_config, facts_of_paths, merge
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import load_locks
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.image import ImageFacts, LockedImage, MediaType
from triton_fleet.spec.values import Digest, hexadecimal
from triton_fleet.store.content_store import list_objects, read_object

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class BuildRecord(BaseModel):
    """The record that the build script writes after the push; a copy keeps the keys not read here."""

    model_config = ConfigDict(frozen=True, extra="allow")

    key: Digest
    repository: str
    digest: Digest
    base: Annotated[str, StringConstraints(pattern=r"@sha256:[0-9a-f]{64}$")]
    size: int | None = None
    media_type: MediaType | None = None
    config: Mapping[str, Any]
    paths: Sequence[str]
    ended: AwareDatetime


@dataclass(frozen=True)
class BuiltImage:
    """An image in the environment's repository: the record of its build, and the facts of what is inside."""

    record: BuildRecord
    facts: ImageFacts

    @property
    def locked_image(self) -> LockedImage:
        """As a lock has it, with the digest of the release's image that the build was given."""
        record = self.record
        base = record.base.rpartition("@")[2]
        return LockedImage(key=record.key, base=base, digest=record.digest, facts=self.facts)


def built_image(s3: S3Client, deployment: Deployment, key: str) -> BuiltImage | None:
    """The record of the image of a key; None before it is built, in this repository and no former one.

    Raises:
        FindingsError: its record cannot be read.
        ClientError: access is denied, or the bucket does not exist.
    """
    record = build_record(s3, deployment.bucket, key)
    if record is None or record.repository != deployment.image_repository:
        return None
    try:
        files = facts_of_paths([record.paths])
    except TooManyPathsError as error:
        url = f"s3://{deployment.bucket}/{built_image_key(key, MANIFEST)}"
        raise FindingsError([_record_finding(url, str(error))]) from error
    facts = merge(facts_of_config(record.config), files)
    return BuiltImage(record, facts.model_copy(update={"media_type": record.media_type}))


def build_record(s3: S3Client, bucket: str, key: str) -> BuildRecord | None:
    """The record of the last build of a key, in whichever repository it is; errors as `built_image`."""
    record_key = built_image_key(key, MANIFEST)
    content = read_object(s3, bucket, record_key)
    if content is None:
        return None
    try:
        record = BuildRecord.model_validate_json(content)
    except ValidationError as error:
        problem = str(error.errors()[0]["msg"])
        raise FindingsError([_record_finding(f"s3://{bucket}/{record_key}", problem)]) from error
    if record.key != key:
        raise FindingsError(
            [_record_finding(f"s3://{bucket}/{record_key}", f"it is the record of {record.key}")]
        )
    return record


def _record_finding(url: str, problem: str) -> Finding:
    message = f"{url} is not a valid record of an image: {problem}"
    hint = "delete it, and build the image again (`fleet images build`), which records it again"
    return Finding(code="FL961", message=message, hint=hint)


MAX_PARALLEL_READS = 16
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
    endpoints, digests = endpoints_by_image(locks), stored_digests(ecr, deployment.image_repository)
    keys = _recorded_keys(s3, deployment)
    records = all_in_parallel(keys, lambda key: built_image(s3, deployment, key), MAX_PARALLEL_READS)
    images = [
        HeldImage(
            key=image.record.key,
            digest=image.record.digest,
            exists=image.record.digest in digests,
            triton=image.facts.triton,
            cuda=image.facts.cuda,
            tensorrt=image.facts.tensorrt,
            size=image.record.size,
            built=image.record.ended.astimezone(UTC).isoformat(timespec="seconds"),
            needed_by=endpoints.get(image.record.digest, ())
            + endpoints.get(hexadecimal(image.record.key), ()),
        )
        for image in records
        if image is not None
    ]
    return sorted(images, key=lambda image: (image.built, image.key))


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

    repositories = all_in_parallel(_recorded_keys(s3, deployment), repository, MAX_PARALLEL_READS)
    return Counter(sorted(name for name in repositories if name not in (None, deployment.image_repository)))


def _recorded_keys(s3: S3Client, deployment: Deployment) -> list[str]:
    end = f"/{MANIFEST}"
    records = [key for key in list_objects(s3, deployment.bucket, BUILDS) if key.endswith(end)]
    return [f"sha256:{key.removeprefix(BUILDS).removesuffix(end)}" for key in records]


def endpoints_by_image(locks: Path) -> Mapping[str, tuple[str, ...]]:
    """The endpoints whose locks name an image, by its digest, or by its tag before a lock has the digest.

    Raises:
        FindingsError: a lock cannot be read.
    """
    endpoints = defaultdict[str, list[str]](list)
    for lock in load_locks(locks):
        if lock.image is not None:
            endpoints[lock.image.reference].append(lock.endpoint)
    return {reference: tuple(names) for reference, names in endpoints.items()}


def stored_digests(ecr: Any, repository: str) -> frozenset[str]:
    """The digests that a repository has; none where there is no repository."""
    pages = ecr.get_paginator("list_images").paginate(repositoryName=repository)
    with SuppressErrors(NO_REPOSITORY):
        return frozenset(image["imageDigest"] for page in pages for image in page["imageIds"])
    return frozenset()
