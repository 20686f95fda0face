"""The embedded S3 as boto3 meets it: conditional writes, copies and multipart uploads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_s3 import BUCKET, FIRST, LAST, Upload, refuse_requests


def body(s3: Any, key: str) -> bytes:
    read: bytes = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    return read


# --- conditional writes


def test_a_key_that_is_taken_is_not_overwritten_on_the_condition_that_it_is_free(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="taken", Body=b"first", IfNoneMatch="*")
    s3.put_object(Bucket=BUCKET, Key="other", Body=b"other")
    upload = Upload(s3, "taken").with_all_parts([b"third"])
    with refuse_requests(412, "PreconditionFailed"):
        s3.put_object(Bucket=BUCKET, Key="taken", Body=b"second", IfNoneMatch="*")
    with refuse_requests(412, "PreconditionFailed"):
        upload.complete(IfNoneMatch="*")
    with refuse_requests(412, "PreconditionFailed"):
        s3.copy_object(
            Bucket=BUCKET, Key="taken", CopySource={"Bucket": BUCKET, "Key": "other"}, IfNoneMatch="*"
        )
    assert body(s3, "taken") == b"first"
    assert [upload["UploadId"] for upload in s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]] == [
        upload.id
    ]
    upload.complete()
    assert body(s3, "taken") == b"third"


def test_a_free_key_is_written_on_the_condition_that_it_is_free(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="source", Body=b"source")
    s3.copy_object(
        Bucket=BUCKET, Key="free/copy", CopySource={"Bucket": BUCKET, "Key": "source"}, IfNoneMatch="*"
    )
    Upload(s3, "free/upload").with_all_parts([b"parts"]).complete(IfNoneMatch="*")
    assert (body(s3, "free/copy"), body(s3, "free/upload")) == (b"source", b"parts")


def test_of_many_writers_at_once_one_wins(s3: Any) -> None:
    def write(number: int) -> int:
        try:
            s3.put_object(Bucket=BUCKET, Key="race", Body=b"%d" % number, IfNoneMatch="*")
        except ClientError as error:
            return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
        return number

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(write, range(32)))
    (winner,) = (result for result in results if result != 412)
    assert body(s3, "race") == b"%d" % winner


def test_a_copy_is_of_the_content_that_was_meant(s3: Any) -> None:
    e_tag = s3.put_object(Bucket=BUCKET, Key="meant", Body=b"meant")["ETag"]
    s3.put_object(Bucket=BUCKET, Key="meant", Body=b"changed")
    source = {"Bucket": BUCKET, "Key": "meant"}
    upload = Upload(s3, "copied")
    with refuse_requests(412, "PreconditionFailed"):
        s3.copy_object(Bucket=BUCKET, Key="copied", CopySource=source, CopySourceIfMatch=e_tag)
    with refuse_requests(412, "PreconditionFailed"):
        s3.upload_part_copy(**upload.location, PartNumber=1, CopySource=source, CopySourceIfMatch=e_tag)
    with refuse_requests(404, "NoSuchKey"):
        s3.upload_part_copy(**upload.location, PartNumber=1, CopySource={"Bucket": BUCKET, "Key": "absent"})
    current_e_tag = s3.head_object(Bucket=BUCKET, Key="meant")["ETag"]
    s3.copy_object(Bucket=BUCKET, Key="copied", CopySource=source, CopySourceIfMatch=current_e_tag)
    assert body(s3, "copied") == b"changed"
    s3.abort_multipart_upload(**upload.location)


# --- multipart uploads


def test_parts_become_one_object_in_the_order_of_their_numbers(s3: Any) -> None:
    upload = Upload(s3, "parts", Metadata={"tar-digest": "sha256:1"})
    upload.part(7, b"replaced")
    upload.parts.clear()
    upload.part(7, LAST)
    upload.part(2, FIRST)
    upload.parts.reverse()
    etag = upload.complete()["ETag"]
    assert body(s3, "parts") == FIRST + LAST
    head = s3.head_object(Bucket=BUCKET, Key="parts")
    assert (head["ETag"], head["ContentLength"], head["Metadata"]) == (
        etag,
        len(FIRST) + len(LAST),
        {"tar-digest": "sha256:1"},
    )
    assert etag.endswith('-2"')


def test_a_completion_may_be_said_twice(s3: Any) -> None:
    upload = Upload(s3, "twice").with_all_parts([b"once"])
    assert upload.complete(IfNoneMatch="*")["ETag"] == upload.complete(IfNoneMatch="*")["ETag"]
    s3.copy_object(Bucket=BUCKET, Key="copy of twice", CopySource=f"{BUCKET}/twice")
    upload.location["Key"] = "copy of twice"
    with refuse_requests(404, "NoSuchUpload"):
        upload.complete()


def test_a_part_that_is_not_the_last_has_five_mebibytes(s3: Any) -> None:
    upload = Upload(s3, "small").with_all_parts([FIRST[1:], LAST])
    with refuse_requests(400, "EntityTooSmall"):
        upload.complete()
    upload.part(1, FIRST)
    upload.parts = [upload.parts[-1], upload.parts[1]]
    upload.complete()
    assert body(s3, "small") == FIRST + LAST


def test_parts_are_listed_in_order_as_they_were_uploaded(s3: Any) -> None:
    upload = Upload(s3, "listed").with_all_parts([FIRST, LAST])
    parts = list(upload.parts)
    upload.parts = parts[::-1]
    with refuse_requests(400, "InvalidPartOrder"):
        upload.complete()
    upload.parts = [parts[0], {**parts[1], "ETag": parts[0]["ETag"]}]
    with refuse_requests(400, "InvalidPart"):
        upload.complete()
    upload.parts = [parts[0], {**parts[1], "PartNumber": 3}]
    with refuse_requests(400, "InvalidPart"):
        upload.complete()
    upload.parts = []
    with refuse_requests(400, "MalformedXML"):
        upload.complete()
    s3.abort_multipart_upload(**upload.location)


def test_an_unknown_upload_is_refused_by_name(s3: Any) -> None:
    upload = Upload(s3, "unknown").with_all_parts([b"part"])
    source = {"Bucket": BUCKET, "Key": "unknown"}
    s3.put_object(Bucket=BUCKET, Key="unknown", Body=b"there")
    for location in ({**upload.location, "UploadId": "none"}, {**upload.location, "Key": "another"}):
        with refuse_requests(404, "NoSuchUpload"):
            s3.upload_part(**location, PartNumber=1, Body=b"part")
        with refuse_requests(404, "NoSuchUpload"):
            s3.upload_part_copy(**location, PartNumber=1, CopySource=source)
        with refuse_requests(404, "NoSuchUpload"):
            s3.complete_multipart_upload(**location, MultipartUpload={"Parts": upload.parts})
    s3.abort_multipart_upload(**upload.location)
    with refuse_requests(404, "NoSuchUpload"):
        s3.list_parts(**upload.location)
    with refuse_requests(404, "NoSuchUpload"):
        s3.abort_multipart_upload(**upload.location)


@pytest.mark.parametrize("number", [0, 10_001])
def test_parts_are_numbered_from_1_to_10000(s3: Any, number: int) -> None:
    upload = Upload(s3, "numbered")
    with refuse_requests(400, "InvalidArgument", "between 1 and 10000, inclusive"):
        upload.part(number, b"part")
    source = {"Bucket": BUCKET, "Key": "absent"}
    with refuse_requests(400, "InvalidArgument", "between 1 and 10000, inclusive"):
        s3.upload_part_copy(**upload.location, PartNumber=number, CopySource=source)
    upload.part(10_000, b"part")
    s3.abort_multipart_upload(**upload.location)


def test_an_orphan_is_listed_until_it_is_aborted(s3: Any) -> None:
    upload = Upload(s3, "orphan").with_all_parts([FIRST, LAST])
    uploads = s3.list_multipart_uploads(Bucket=BUCKET, Prefix="orphan")["Uploads"]
    assert [(upload["Key"], upload["UploadId"]) for upload in uploads] == [("orphan", upload.id)]
    parts = s3.list_parts(**upload.location)["Parts"]
    assert [(part["PartNumber"], part["Size"]) for part in parts] == [(1, len(FIRST)), (2, len(LAST))]
    s3.abort_multipart_upload(**upload.location)
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=BUCKET, Prefix="orphan")


def test_parts_may_be_ranges_of_an_object(s3: Any) -> None:
    Upload(s3, "whole").with_all_parts([FIRST, LAST]).complete()
    source, size = {"Bucket": BUCKET, "Key": "whole"}, len(FIRST) + len(LAST)
    upload = Upload(s3, "pieces")
    for number, request in enumerate([f"bytes=2-{len(FIRST) + 3}", f"bytes=0-{size - 1}", None], 1):
        options = {} if request is None else {"CopySourceRange": request}
        part = s3.upload_part_copy(**upload.location, PartNumber=number, CopySource=source, **options)
        upload.parts.append({"PartNumber": number, "ETag": part["CopyPartResult"]["ETag"]})
    with refuse_requests(400, "InvalidArgument", f"not valid for source object of size: {size}"):
        s3.upload_part_copy(
            **upload.location, PartNumber=4, CopySource=source, CopySourceRange=f"bytes=0-{size}"
        )
    upload.complete()
    whole = FIRST + LAST
    assert body(s3, "pieces") == whole[2 : len(FIRST) + 4] + whole + whole
