"""Copies of parts of objects, on the server unless they are small."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from .bucket import CONFLICT_STATUS, PRECONDITION_STATUS, status
from .request import Place

SMALL_BYTES = 8 << 20
"""Copied through the memory: S3 copies ranges of objects alone that are larger than 5 MB.

Source: S3 API reference, UploadPartCopy.
"""
PART_BYTES = 512 << 20
"""S3 takes 5 GiB at most, and 10,000 parts."""
MAX_PARALLEL_PARTS = 8


@dataclass(frozen=True)
class Range:
    """Some bytes of an object."""

    place: Place
    start: int
    size: int


def whole(s3: Any, place: Place) -> Range:
    """All bytes of an object.

    Raises:
        ClientError: there is no such object, or S3 refuses.
    """
    return Range(place, 0, s3.head_object(Bucket=place.bucket, Key=place.key)["ContentLength"])


def read_range(s3: Any, part: Range) -> bytes:
    """The bytes of a range.

    Raises:
        ClientError: S3 refuses.
    """
    if not part.size:
        return b""
    body = s3.get_object(Bucket=part.place.bucket, Key=part.place.key, Range=_text(part))["Body"]
    content: bytes = body.read()
    return content


def copy_range(s3: Any, source: Range, target: Place, *, only_if_new: bool = False) -> None:
    """Write an object of the bytes of a range; `only_if_new`: one that exists stays as it is.

    Raises:
        ClientError: S3 refuses.
    """
    condition = {"IfNoneMatch": "*"} if only_if_new else {}
    try:
        if source.size <= SMALL_BYTES:
            s3.put_object(Bucket=target.bucket, Key=target.key, Body=read_range(s3, source), **condition)
        else:
            _copy_parts(s3, source, target, condition)
    except ClientError as error:
        if not only_if_new or status(error) not in (PRECONDITION_STATUS, CONFLICT_STATUS):
            raise


def _copy_parts(s3: Any, source: Range, target: Place, condition: dict[str, str]) -> None:
    upload = {"Bucket": target.bucket, "Key": target.key}
    upload["UploadId"] = s3.create_multipart_upload(**upload)["UploadId"]
    end = source.start + source.size
    starts = range(source.start, end, PART_BYTES)

    def copy_part(number: int, start: int) -> dict[str, Any]:
        part = Range(source.place, start, min(PART_BYTES, end - start))
        answer = s3.upload_part_copy(
            **upload,
            PartNumber=number,
            CopySource={"Bucket": part.place.bucket, "Key": part.place.key},
            CopySourceRange=_text(part),
        )
        return {"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]}

    try:
        with ThreadPoolExecutor(MAX_PARALLEL_PARTS) as pool:
            parts = list(pool.map(copy_part, range(1, len(starts) + 1), starts))
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **condition)
    except BaseException:
        s3.abort_multipart_upload(**upload)
        raise


def _text(part: Range) -> str:
    return f"bytes={part.start}-{part.start + part.size - 1}"
