"""The plan in the bucket: whole, once, and by whoever is first.

boto3's own upload_file has no IfNoneMatch (s3transfer 0.19, ALLOWED_UPLOAD_ARGS).
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from engine_request.bucket import (
    CONFLICT_STATUS,
    NOT_FOUND_STATUS,
    PRECONDITION_STATUS,
    Bucket,
    TakenError,
    status,
)

PART_BYTES = 64 << 20
"""S3 takes 10,000 parts of 5 MiB to 5 GiB: plans of up to 625 GiB."""
MAX_ATTEMPTS = 3
"""S3 answers 409 where two uploads end at the same moment, and wants the upload to be begun again."""


def upload_plan(bucket: Bucket, key: str, plan: Path, digest: str) -> None:
    """Upload a plan, with its digest as metadata `digest`; nothing of it stays where that fails.

    Raises:
        TakenError: a plan exists, of another build or of this one, whose answer was lost.
        ClientError, BotoCoreError: S3 refused it.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            return _upload(bucket, key, plan, digest)
        except ClientError as error:  # noqa: PERF203
            if status(error) in (PRECONDITION_STATUS, NOT_FOUND_STATUS):
                raise TakenError(key) from error
            if status(error) != CONFLICT_STATUS:
                raise
    raise TakenError(key)


def _upload(bucket: Bucket, key: str, plan: Path, digest: str) -> None:
    upload = bucket.s3.create_multipart_upload(Bucket=bucket.name, Key=key, Metadata={"digest": digest})
    target = {"Bucket": bucket.name, "Key": key, "UploadId": upload["UploadId"]}
    try:
        parts = []
        with plan.open("rb") as content:
            for number, chunk in enumerate(iter(lambda: content.read(PART_BYTES), b""), 1):
                answer = bucket.s3.upload_part(**target, PartNumber=number, Body=chunk)
                parts.append({"PartNumber": number, "ETag": answer["ETag"]})
        bucket.s3.complete_multipart_upload(**target, MultipartUpload={"Parts": parts}, IfNoneMatch="*")
    except BaseException:
        with contextlib.suppress(ClientError, BotoCoreError):  # else the bucket's lifecycle ends it
            bucket.s3.abort_multipart_upload(**target)
        raise
