"""The content store of an environment's bucket: archives by the digest of their tar stream."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.artifacts.publish.parts import copy_by_parts
from fleet.spec.values import hexadecimal

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import (
        CopyObjectRequestTypeDef,
        CopySourceTypeDef,
        ListObjectsV2RequestPaginateTypeDef,
    )

STORE = "archives/"
DIGEST = "tar-digest"
"""Metadata of each object: the digest of its tar stream."""
WRITES = {"CopyObject", "CompleteMultipartUpload"}
"""The requests that take the condition that a key is free, so that of two writers one wins."""
TAKEN, CONFLICT = 412, 409
"""S3's answers where another has taken the key, and where another is about to: then one asks again."""
ATTEMPTS = 3
COPIED_WHOLE = 4 << 30
"""Larger objects are copied by parts: CopyObject takes 5 GB, and a size may be that before compression."""


@dataclass(frozen=True, kw_only=True)
class ObjectListing:
    """What a listing says of an object: its size in bytes, when it was written, which content it is."""

    size: int
    modified: datetime
    etag: str


def store_key(digest: str) -> str:
    """Where the store keeps the compressed archive of a tar stream."""
    return f"{STORE}{hexadecimal(digest)}.tar.gz"


def files_prefix(digest: str) -> str:
    """Below which the store keeps the files of a tar stream that is not compressed."""
    return f"{STORE}{hexadecimal(digest)}/"


def files_marker(digest: str) -> str:
    """The JSON object `{"path": size}` that is written when all of those files are there."""
    return f"{STORE}{hexadecimal(digest)}.files"


def contents_key(digest: str) -> str:
    """The JSON object that says what an archive with engines really holds: its tar stream, and its plans."""
    return f"{STORE}{hexadecimal(digest)}.contents.json"


def list_objects(s3: S3Client, bucket: str, prefix: str, *, below: bool = True) -> dict[str, ObjectListing]:
    """The objects whose keys begin with a prefix, by key; with `below=False` none of deeper folders."""
    request: ListObjectsV2RequestPaginateTypeDef = {"Bucket": bucket, "Prefix": prefix}
    if not below:
        request["Delimiter"] = "/"
    pages = s3.get_paginator("list_objects_v2").paginate(**request)
    return {
        found["Key"]: ObjectListing(size=found["Size"], modified=found["LastModified"], etag=found["ETag"])
        for page in pages
        for found in page.get("Contents", [])
    }


def copy_object(
    s3: S3Client,
    from_bucket: str,
    from_key: str,
    to_bucket: str,
    to_key: str,
    digest: str,
    *,
    overwrite: bool,
    size: int | None = None,
    copied_whole: int = COPIED_WHOLE,
) -> bool:
    """Copy an object on the server and say of the copy which tar stream it is; whether it was copied.

    Without `overwrite`, a key that is taken stays as it is, also where another takes it meanwhile. A known
    `size` in bytes (an upper estimate will do) spares a request; past `copied_whole` it is copied by parts.

    Raises:
        ClientError: there is no such object, or access is denied.
    """
    source: CopySourceTypeDef = {"Bucket": from_bucket, "Key": from_key}
    metadata = {DIGEST: digest}
    if size is None:
        size = s3.head_object(Bucket=from_bucket, Key=from_key)["ContentLength"]
    copy = _copy_whole if size <= copied_whole else copy_by_parts
    for attempt in range(1, ATTEMPTS + 1):
        try:
            copy(s3, source, to_bucket, to_key, metadata, overwrite=overwrite)
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if error.operation_name not in WRITES or overwrite:
                raise
            if status == TAKEN:
                return False
            if status != CONFLICT or attempt == ATTEMPTS:
                raise
        else:
            break
    return True


def digest_of(s3: S3Client, bucket: str, key: str) -> str | None:
    """The digest that an object says it has, "" when it says none; None where there is no object.

    Raises:
        ClientError: access is denied.
    """
    try:
        head = s3.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
            return None
        raise
    return head["Metadata"].get(DIGEST, "")


def _copy_whole(
    s3: S3Client,
    source: CopySourceTypeDef,
    bucket: str,
    key: str,
    metadata: dict[str, str],
    *,
    overwrite: bool,
) -> None:
    request: CopyObjectRequestTypeDef = {
        "CopySource": source,
        "Bucket": bucket,
        "Key": key,
        "Metadata": metadata,
        "MetadataDirective": "REPLACE",
    }
    if not overwrite:
        request["IfNoneMatch"] = "*"
    s3.copy_object(**request)
