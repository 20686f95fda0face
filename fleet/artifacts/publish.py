"""A locked archive put into the artifact bucket: into the content store, and into the endpoint's prefix."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from botocore.exceptions import ClientError

from fleet.artifacts.archive import DigestWriter, write_tar
from fleet.findings import Finding, FindingsError
from fleet.resolve.endpoint import ResolvedEndpoint

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

STORE = "archives/"
COMPRESSION = 1
"""Weights hardly shrink: higher levels cost seconds and save nothing."""


def publish(s3: S3Client, endpoint: ResolvedEndpoint, repository: Path) -> bool:
    """Upload the endpoint's archive where it is lacking; whether anything had to be uploaded or copied.

    Raises:
        FindingsError: the repository is no longer what the lock says.
    """
    artifact = endpoint.artifact
    stored = f"{STORE}{artifact.digest.removeprefix('sha256:')}.tar.gz"
    if _exists(s3, artifact.bucket, artifact.key):
        return False
    if not _exists(s3, artifact.bucket, stored):
        _upload(s3, endpoint, repository, stored)
    s3.copy({"Bucket": artifact.bucket, "Key": stored}, artifact.bucket, artifact.key)
    return True


def _upload(s3: S3Client, endpoint: ResolvedEndpoint, repository: Path, key: str) -> None:
    with tempfile.TemporaryFile() as packed:
        with gzip.GzipFile(
            filename="", mode="wb", compresslevel=COMPRESSION, fileobj=packed, mtime=0
        ) as zipped:
            stream = DigestWriter(cast(IO[bytes], zipped))
            write_tar(repository, stream)
        if stream.digest != endpoint.artifact.digest:
            message = f"the repository is not what the lock of {endpoint.name!r} says: it changed since"
            lock = f"fleet lock --env {endpoint.place.environment} {endpoint.name}"
            hint = f"run `{lock}` and have the change reviewed"
            raise FindingsError([Finding(code="FL303", message=message, hint=hint, file=repository)])
        packed.seek(0)
        s3.upload_fileobj(packed, endpoint.artifact.bucket, key)


def _exists(s3: S3Client, bucket: str, key: str) -> bool:
    try:
        s3.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
            return False
        raise
    return True
