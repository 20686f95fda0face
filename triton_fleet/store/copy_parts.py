"""Copies on the server in parts, for objects that are too large for one request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import (
        CompletedPartTypeDef,
        CompleteMultipartUploadRequestTypeDef,
        CopySourceTypeDef,
    )

PART = 1 << 30
"""S3 takes parts of 5 MiB to 5 GiB and at most 10,000 of them: objects of up to 10 TiB."""
PARTS_AT_ONCE = 8


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

    def copied(start: int) -> CompletedPartTypeDef:
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
        parts = all_in_parallel(range(0, size, part), copied, PARTS_AT_ONCE)
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
