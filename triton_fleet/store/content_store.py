"""Copies on the server in parts, for objects that are too large for one request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from triton_fleet.awsapi.errors import CONFLICT, NOT_FOUND, PRECONDITION_FAILED, SuppressErrors, http_status
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import ARCHIVES
from triton_fleet.spec.values import hexadecimal

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import (
        CompletedPartTypeDef,
        CompleteMultipartUploadRequestTypeDef,
        CopyObjectRequestTypeDef,
        CopySourceTypeDef,
        ListObjectsV2RequestPaginateTypeDef,
    )

PART = 1 << 30
"""S3 takes parts of 5 MiB to 5 GiB and at most 10,000 of them: objects of up to 10 TiB."""
MAX_PARALLEL_COPIES = 8


def copy_by_parts(
    s3: S3Client,
    source: CopySourceTypeDef,
    bucket: str,
    key: str,
    metadata: dict[str, str],
    *,
    overwrite: bool,
    part: int = PART,
) -> None:
    """Copy an object in parts of `part` bytes; without `overwrite`, S3 refuses if the key is taken.

    An empty object has no parts and cannot be copied like this.

    Raises:
        ClientError: the key is taken (412), the object does not exist or changed, or access is denied;
            nothing is left then.
    """
    head = s3.head_object(Bucket=source["Bucket"], Key=source["Key"])
    size, etag = head["ContentLength"], head["ETag"]
    upload = s3.create_multipart_upload(Bucket=bucket, Key=key, Metadata=metadata)["UploadId"]

    def copy_part(start: int) -> CompletedPartTypeDef:
        number, last = start // part + 1, min(start + part, size) - 1
        answer = s3.upload_part_copy(
            Bucket=bucket,
            Key=key,
            UploadId=upload,
            PartNumber=number,
            CopySource=source,
            CopySourceIfMatch=etag,
            CopySourceRange=f"bytes={start}-{last}",
        )
        return {"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]}

    try:
        parts = all_in_parallel(range(0, size, part), copy_part, MAX_PARALLEL_COPIES)
        complete: CompleteMultipartUploadRequestTypeDef = {
            "Bucket": bucket,
            "Key": key,
            "UploadId": upload,
            "MultipartUpload": {"Parts": parts},
        }
        if not overwrite:
            complete["IfNoneMatch"] = "*"
        s3.complete_multipart_upload(**complete)
    except BaseException:
        s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload)
        raise


DIGEST = "tar-digest"
"""Metadata of each object: the digest of its tar stream."""
WRITES = {"CopyObject", "CompleteMultipartUpload"}
"""The requests that accept the condition that a key is free, so that one of two writers wins."""
ATTEMPTS = 3
COPIED_WHOLE = 4 << 30
"""Larger objects are copied in parts: CopyObject takes 5 GB, and a size may be that before compression."""


@dataclass(frozen=True, kw_only=True)
class ObjectListing:
    """An object in a listing: its size in bytes, when it was written, and its ETag."""

    size: int
    mtime: datetime
    etag: str


def store_key(digest: str) -> str:
    """The key of the compressed archive of a tar stream."""
    return f"{ARCHIVES}{hexadecimal(digest)}.tar.gz"


def files_prefix(digest: str) -> str:
    """The prefix of the files of a tar stream that is not compressed."""
    return f"{ARCHIVES}{hexadecimal(digest)}/"


def files_marker(digest: str) -> str:
    """The key of the JSON object `{"path": size}` that is written when all of those files exist."""
    return f"{ARCHIVES}{hexadecimal(digest)}.files"


def contents_key(digest: str) -> str:
    """The key of the JSON object with the content of an archive with engines: tar stream and plans."""
    return f"{ARCHIVES}{hexadecimal(digest)}.contents.json"


def list_objects(s3: S3Client, bucket: str, prefix: str, *, below: bool = True) -> dict[str, ObjectListing]:
    """The objects below a prefix, by key; with `below=False` none in deeper folders."""
    request: ListObjectsV2RequestPaginateTypeDef = {"Bucket": bucket, "Prefix": prefix}
    if not below:
        request["Delimiter"] = "/"
    pages = s3.get_paginator("list_objects_v2").paginate(**request)
    return {
        entry["Key"]: ObjectListing(size=entry["Size"], mtime=entry["LastModified"], etag=entry["ETag"])
        for page in pages
        for entry in page.get("Contents", [])
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
    """Copy an object on the server with the digest of its tar stream; return whether it was copied.

    Without `overwrite`, a taken key is not changed, also if it is taken meanwhile. A known `size` in bytes
    (an upper estimate is enough) saves a request; past `copied_whole` the object is copied in parts.

    Raises:
        ClientError: the object does not exist, or access is denied.
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
            status = http_status(error)
            if error.operation_name not in WRITES or overwrite:
                raise
            if status == PRECONDITION_FAILED:
                return False
            if status != CONFLICT or attempt == ATTEMPTS:
                raise
        else:
            break
    return True


def digest_of(s3: S3Client, bucket: str, key: str) -> str | None:
    """The digest in an object's metadata, "" if it has none; None if the object does not exist.

    Raises:
        ClientError: access is denied.
    """
    with SuppressErrors(NOT_FOUND):
        return s3.head_object(Bucket=bucket, Key=key)["Metadata"].get(DIGEST, "")
    return None


def read_object(s3: S3Client, bucket: str, key: str) -> bytes | None:
    """The content of an object; None if it does not exist.

    Raises:
        ClientError: access is denied, or the bucket does not exist.
    """
    with SuppressErrors("NoSuchKey"):
        return s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    return None


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


FILES = TypeAdapter(dict[str, int])


def stored_files(s3: S3Client, bucket: str, digest: str) -> dict[str, int] | None:
    """The files of a tar stream and their sizes in bytes, by path; None if the store lacks it."""
    marker = read_object(s3, bucket, files_marker(digest))
    return None if marker is None else FILES.validate_json(marker)


def missing_files(s3: S3Client, bucket: str, prefix: str, files: dict[str, int]) -> list[str]:
    """The paths that the prefix lacks or has with another size."""
    stored_objects = list_objects(s3, bucket, prefix)
    return [
        path
        for path, size in files.items()
        if (entry := stored_objects.get(f"{prefix}{path}")) is None or entry.size != size
    ]
