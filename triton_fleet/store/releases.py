"""Records what endpoints ran: an object in the bucket for each deploy that changed it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from pydantic import ValidationError

from triton_fleet.awsapi.actor import Actor, Record
from triton_fleet.awsapi.errors import CONFLICT, PRECONDITION_FAILED, answered_at, http_status
from triton_fleet.changes.spec_changes import recorded_spec
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import RELEASES
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.selection.checkout import Checkout
from triton_fleet.spec.endpoint import Compression
from triton_fleet.spec.values import Digest
from triton_fleet.store.content_store import list_objects

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_PARALLEL_READS = 16
ATTEMPTS = 5
TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
KEY = re.compile(rf"{RELEASES}(?P<endpoint>[^/]+)/\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6}}Z\.json")


class ReleasedArchive(Record):
    """One archive of a release; without compression its key is a prefix, which ends in a slash."""

    key: str
    digest: Digest


class ReleaseSource(Record):
    """The actor, the commit, the lock and the spec of a release.

    `commit` is None outside of Git. `uncommitted`: files of the endpoint differed from that commit. `lock`
    and `spec` are plain data: a record can be read by versions with other contracts. `spec` has neither
    secrets nor keys at their defaults.
    """

    actor: Actor
    commit: str | None = None
    uncommitted: bool = False
    lock: dict[str, Any]
    spec: dict[str, Any]


class Release(Record):
    """The content of one endpoint since a time; `model_data` is a key or a prefix of the artifact bucket.

    `image` is the digest of an image of one's own; None: the release's. `source` is None in records of
    earlier versions, and on a laptop.
    """

    endpoint: str
    time: datetime
    model_data: str
    compression: Compression
    archives: tuple[ReleasedArchive, ...]
    image: Digest | None = None
    source: ReleaseSource | None = None

    @property
    def id(self) -> str:
        """The name of its record."""
        return self.time.strftime(TIME)

    @property
    def content(self) -> tuple[object, ...]:
        """The content that it runs; releases with the same one differ in actor and time."""
        spec = self.source.spec if self.source else None
        return self.model_data, self.compression, self.archives, self.image, spec


def release_source(project: Project, endpoint: str, actor: Actor, checkout: Checkout) -> ReleaseSource:
    """The part of an endpoint's record besides its content."""
    return ReleaseSource(
        actor=actor,
        commit=checkout.commit,
        uncommitted=checkout.differs(endpoint),
        lock=project.lock(endpoint).model_dump(mode="json", exclude_defaults=True),
        spec=recorded_spec(project.load(endpoint), project.root),
    )


def record_release(
    s3: S3Client,
    endpoint: ResolvedEndpoint,
    built_digest: str | None = None,
    source: ReleaseSource | None = None,
) -> None:
    """Record what the endpoint runs, unless its last release is the same.

    `built_digest` is the digest of its image where the lock does not have it yet.

    Raises:
        CannotRunError: other deploys of the endpoint record theirs again and again.
        ClientError: S3 refuses.
    """
    for _ in range(ATTEMPTS):
        try:
            return _record(s3, endpoint, built_digest, source)
        except ClientError as error:
            if http_status(error) not in (CONFLICT, PRECONDITION_FAILED):
                raise
    problem = f"other deploys of {endpoint.name} are being recorded"
    raise CannotRunError(problem, "wait until they have ended, and run the command again")


def _record(
    s3: S3Client, endpoint: ResolvedEndpoint, built_digest: str | None, source: ReleaseSource | None
) -> None:
    bucket = endpoint.deployment.bucket
    keys = _release_keys(s3, bucket, endpoint.name)
    time = _next_time(s3, bucket, keys)
    release = Release(
        endpoint=endpoint.name,
        time=time,
        model_data=endpoint.model_data,
        compression=endpoint.compression,
        archives=tuple(
            ReleasedArchive(key=archive.key, digest=archive.digest) for archive in endpoint.archives
        ),
        image=(endpoint.image.digest or built_digest) if endpoint.image.is_own else None,
        source=source,
    )
    try:
        last = read_releases(s3, bucket, keys[:1])
    except FindingsError:
        last = []  # a broken object does not stop a deploy: prune reports it
    if not last or last[0].content != release.content:
        key = f"{releases_prefix(endpoint.name)}{release.id}.json"
        text = release.model_dump_json(indent=1, exclude_defaults=True)
        # A deploy from another clone may have taken the name since the names were listed.
        s3.put_object(Bucket=bucket, Key=key, Body=text.encode(), IfNoneMatch="*")


def last_releases(s3: S3Client, bucket: str, endpoint_name: str, count: int | None = None) -> list[Release]:
    """The endpoint's last `count` releases, all for None, newest first; objects with other names are ignored.

    Raises:
        FindingsError: one of the objects is not a release.
    """
    return read_releases(s3, bucket, _release_keys(s3, bucket, endpoint_name)[:count])


def read_releases(s3: S3Client, bucket: str, keys: list[str]) -> list[Release]:
    """The releases in these objects.

    Raises:
        FindingsError: one of the objects is not a release.
    """
    return all_in_parallel(keys, lambda key: _read(s3, bucket, key), MAX_PARALLEL_READS)


def released_digests(s3: S3Client, bucket: str, endpoint_name: str) -> frozenset[str]:
    """The digests of the archives and images of all of the endpoint's releases; a broken object has none."""

    def digests(key: str) -> list[str]:
        try:
            release = _read(s3, bucket, key)
        except FindingsError:
            return []
        return [archive.digest for archive in release.archives] + ([release.image] if release.image else [])

    digests_by_release = all_in_parallel(
        _release_keys(s3, bucket, endpoint_name), digests, MAX_PARALLEL_READS
    )
    return frozenset(digest for release_digests in digests_by_release for digest in release_digests)


def _release_keys(s3: S3Client, bucket: str, endpoint_name: str) -> list[str]:
    """The keys of the endpoint's releases, the newest first."""
    keys = list_objects(s3, bucket, releases_prefix(endpoint_name))
    return sorted(filter(KEY.fullmatch, keys), reverse=True)


def _next_time(s3: S3Client, bucket: str, keys: Sequence[str]) -> datetime:
    """S3's time, but later than the last release: rollback and prune depend on their order."""
    time = answered_at(s3.head_bucket(Bucket=bucket))
    if not keys:
        return time
    try:
        last = datetime.strptime(keys[0].rpartition("/")[2], f"{TIME}.json").replace(tzinfo=UTC)
        return max(time, last + timedelta(microseconds=1))
    except (ValueError, OverflowError):
        return time  # the name of a broken object is not a time: prune reports it


def releases_prefix(endpoint: str) -> str:
    """The prefix of an endpoint's releases; their names are times, so that they sort by time."""
    return f"{RELEASES}{endpoint}/"


def _read(s3: S3Client, bucket: str, key: str) -> Release:
    try:
        return Release.model_validate_json(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    except ValidationError as error:
        message = f"s3://{bucket}/{key} is not a valid release: {error.errors()[0]['msg']}"
        hint = "restore its previous version, or delete it if you will not roll back to it"
        raise FindingsError([Finding(code="FL325", message=message, hint=hint)]) from error
