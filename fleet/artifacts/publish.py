"""Locked archives put into the artifact bucket: into the content store, and into the endpoint's prefix."""

from __future__ import annotations

import gzip
import tempfile
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.artifacts.archive import DigestWriter
from fleet.artifacts.sources.source import ArchiveSource
from fleet.findings import Finding, FindingsError
from fleet.resolve.endpoint import Artifact, ResolvedEndpoint

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

STORE = "archives/"
DIGEST = "tar-digest"
"""Metadata of each object: the digest of its tar stream."""
COMPRESSION = 1
"""Weights hardly shrink: higher levels cost seconds and save nothing."""


def publish(s3: S3Client, endpoint: ResolvedEndpoint, artifact: Artifact, source: ArchiveSource) -> bool:
    """Upload one of the endpoint's archives if it is lacking; whether anything had to be uploaded or copied.

    Raises:
        FindingsError: the repository is no longer what the lock says, or the archive's name is taken.
    """
    bucket = endpoint.place.bucket
    stored = f"{STORE}{artifact.digest.removeprefix('sha256:')}.tar.gz"
    there = _digest_of(s3, bucket, artifact.key)
    if there == artifact.digest or (there is not None and artifact.named_by_content):
        return False
    if there is not None:
        message = (
            f"s3://{bucket}/{artifact.key} holds another content: a published archive is never overwritten"
        )
        hint = f"raise the `version` of archive {artifact.archive!r}"
        raise FindingsError([Finding(code="FL304", message=message, hint=hint)])
    if _digest_of(s3, bucket, stored) is None:
        _upload(s3, endpoint, artifact, source, stored)
    # What lies in the store may have been put there by hand, without metadata that the copy would keep.
    metadata = {**_metadata(artifact), "MetadataDirective": "REPLACE"}
    s3.copy({"Bucket": bucket, "Key": stored}, bucket, artifact.key, ExtraArgs=metadata)
    return True


def _upload(
    s3: S3Client, endpoint: ResolvedEndpoint, artifact: Artifact, source: ArchiveSource, key: str
) -> None:
    with tempfile.TemporaryFile() as packed:
        with gzip.GzipFile(
            filename="", mode="wb", compresslevel=COMPRESSION, fileobj=packed, mtime=0
        ) as zipped:
            stream = DigestWriter(zipped)
            source.write(stream)
        if stream.digest != artifact.digest:
            message = f"the repository is not what the lock of {endpoint.name!r} says: it changed since"
            lock = f"fleet lock --env {endpoint.place.environment} {endpoint.name}"
            hint = f"run `{lock}` and have the change reviewed"
            raise FindingsError([Finding(code="FL303", message=message, hint=hint)])
        packed.seek(0)
        s3.upload_fileobj(packed, endpoint.place.bucket, key, ExtraArgs=_metadata(artifact))


def _metadata(artifact: Artifact) -> dict[str, object]:
    return {"Metadata": {DIGEST: artifact.digest}}


def _digest_of(s3: S3Client, bucket: str, key: str) -> str | None:
    """The digest that an object says it has, "" when it says none; None where there is no object."""
    try:
        head = s3.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
            return None
        raise
    return head["Metadata"].get(DIGEST, "")
