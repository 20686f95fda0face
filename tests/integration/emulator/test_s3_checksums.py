"""The embedded S3 compares the checksums that it is given, and answers those that it keeps."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from http.client import HTTPConnection
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.support.embedded_keys import SESSION, sign_request
from tests.support.embedded_s3 import BUCKET, FIRST, LAST, Upload, crc32, refuse_requests

WHOLE = FIRST + LAST
FULL = {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}


def sha256(body: bytes) -> str:
    return b64encode(hashlib.sha256(body).digest()).decode()


def sha1(body: bytes) -> str:
    return b64encode(hashlib.sha1(body).digest()).decode()


def stored_checksums(s3: Any, key: str) -> dict[str, str]:
    """The checksum of an object in HeadObject and GetObject, in the same words."""
    head = s3.head_object(Bucket=BUCKET, Key=key, ChecksumMode="ENABLED")
    read = s3.get_object(Bucket=BUCKET, Key=key, ChecksumMode="ENABLED")
    values = [
        {name: value for name, value in answer.items() if "Checksum" in name} for answer in (head, read)
    ]
    assert values[0] == values[1]
    return values[0]


@pytest.mark.parametrize(
    ("name", "of"), [("ChecksumCRC32", crc32), ("ChecksumSHA1", sha1), ("ChecksumSHA256", sha256)]
)
def test_a_body_is_compared_with_its_checksum(s3: Any, name: str, of: Any) -> None:
    key, right, wrong = f"put/{name}", of(b"body"), of(b"another")
    answer = s3.put_object(Bucket=BUCKET, Key=key, Body=b"body", **{name: right})
    assert (answer[name], answer["ChecksumType"]) == (right, "FULL_OBJECT")
    assert stored_checksums(s3, key) == {name: right, "ChecksumType": "FULL_OBJECT"}
    with refuse_requests(400, "BadDigest", "you specified did not match the calculated checksum"):
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"body", **{name: wrong})
    assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"body"


@pytest.mark.parametrize("value", ["AAAAAAA=", "not base64!"])
def test_a_checksum_that_is_none_is_refused(s3: Any, value: str) -> None:
    with refuse_requests(400, "InvalidRequest", "x-amz-checksum-crc32 header is invalid"):
        s3.put_object(Bucket=BUCKET, Key="none", Body=b"body", ChecksumCRC32=value)


def test_one_checksum_is_given_at_most(s3: Any) -> None:
    pair = {"ChecksumCRC32": crc32(b"body"), "ChecksumSHA256": sha256(b"body")}
    with refuse_requests(400, "InvalidRequest", "Multiple checksum Types are not allowed"):
        s3.put_object(Bucket=BUCKET, Key="both", Body=b"body", **pair)


@pytest.mark.parametrize(
    ("trailer", "status", "message"),
    [
        (f"x-amz-checksum-crc32:{crc32(b'body')}", 200, ""),
        (f"x-amz-checksum-crc32:{crc32(b'another')}", 400, "<Code>BadDigest</Code>"),
        ("", 400, "no corresponding x-amz-checksum-"),
    ],
)
def test_a_checksum_may_come_behind_the_body_as_the_cdk_cli_sends_it(
    s3: Any, trailer: str, status: int, message: str
) -> None:
    headers = {
        "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "x-amz-sdk-checksum-algorithm": "CRC32",
        "x-amz-decoded-content-length": "4",
        **({"x-amz-trailer": "x-amz-checksum-crc32"} if trailer else {}),
    }
    url = f"{s3.meta.endpoint_url}/{BUCKET}/trailer"
    headers = sign_request("PUT", url, headers, service="s3")
    connection = HTTPConnection(s3.meta.endpoint_url.removeprefix("http://"))
    text = f"4\r\nbody\r\n0\r\n{trailer}\r\n\r\n"
    connection.request("PUT", f"/{BUCKET}/trailer", body=text.encode(), headers=headers)
    answer = connection.getresponse()
    assert (answer.status, message in answer.read().decode()) == (status, True)
    connection.close()
    assert s3.get_object(Bucket=BUCKET, Key="trailer")["Body"].read() == b"body"


def test_a_checksum_that_cannot_be_computed_here_is_kept_as_it_is_given(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="nvme", Body=b"body", ChecksumCRC64NVME="AAAAAAAAAAA=")
    head = s3.head_object(Bucket=BUCKET, Key="nvme", ChecksumMode="ENABLED")
    assert head["ChecksumCRC64NVME"] == "AAAAAAAAAAA="


def test_a_part_with_another_checksum_is_not_kept(s3: Any) -> None:
    upload = Upload(s3, "part", **FULL)
    with refuse_requests(400, "BadDigest"):
        upload.part(1, LAST, ChecksumCRC32=crc32(FIRST))
    assert "Parts" not in s3.list_parts(**upload.location)
    assert upload.part(1, LAST, ChecksumCRC32=crc32(LAST))["ChecksumCRC32"] == crc32(LAST)


def test_a_whole_object_is_compared_with_its_checksum_and_size(s3: Any) -> None:
    upload = Upload(s3, "full", **FULL).with_all_parts([FIRST, LAST])
    with refuse_requests(400, "BadDigest"):
        upload.complete(ChecksumCRC32=crc32(LAST))
    with refuse_requests(400, "InvalidRequest", "x-amz-mp-object-size"):
        upload.complete(ChecksumCRC32=crc32(WHOLE), MpuObjectSize=len(WHOLE) - 1)
    with refuse_requests(400, "BadDigest"):
        upload.complete(ChecksumType="COMPOSITE")
    with refuse_requests(404, "404"):
        s3.head_object(Bucket=BUCKET, Key="full")
    text = {"ChecksumCRC32": crc32(WHOLE), "ChecksumType": "FULL_OBJECT"}
    answer = upload.complete(**text, MpuObjectSize=len(WHOLE))
    assert {name: answer[name] for name in text} == text
    assert stored_checksums(s3, "full") == text


def test_a_whole_object_has_a_checksum_though_none_was_given_at_its_end(s3: Any) -> None:
    Upload(s3, "ungiven", **FULL).with_all_parts([FIRST, LAST]).complete()
    assert stored_checksums(s3, "ungiven") == {"ChecksumCRC32": crc32(WHOLE), "ChecksumType": "FULL_OBJECT"}


def test_a_composite_checksum_is_of_the_checksums_of_the_parts(s3: Any) -> None:
    upload = Upload(s3, "composite", ChecksumAlgorithm="SHA256")
    upload.with_all_parts([FIRST, LAST], ChecksumAlgorithm="SHA256")
    with refuse_requests(
        400, "InvalidRequest", "must include the checksum for each part.*missing for part 1"
    ):
        upload.complete()
    upload.parts[0]["ChecksumSHA256"] = upload.parts[1]["ChecksumSHA256"] = sha256(LAST)
    with refuse_requests(400, "InvalidPart"):
        upload.complete()
    upload.parts[0]["ChecksumSHA256"] = sha256(FIRST)
    whole = sha256(hashlib.sha256(FIRST).digest() + hashlib.sha256(LAST).digest())
    with refuse_requests(400, "BadDigest"):
        upload.complete(ChecksumSHA256=sha256(WHOLE))
    assert upload.complete(ChecksumSHA256=whole)["ChecksumSHA256"] == f"{whole}-2"
    assert stored_checksums(s3, "composite") == {"ChecksumSHA256": f"{whole}-2", "ChecksumType": "COMPOSITE"}


def test_a_copied_part_is_answered_with_its_checksum(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="small", Body=LAST)
    upload = Upload(s3, "copied part", ChecksumAlgorithm="CRC32")
    part = s3.upload_part_copy(**upload.location, PartNumber=1, CopySource=f"{BUCKET}/small")[
        "CopyPartResult"
    ]
    assert part["ChecksumCRC32"] == crc32(LAST)
    upload.parts.append({"PartNumber": 1, "ETag": part["ETag"], "ChecksumCRC32": part["ChecksumCRC32"]})
    assert upload.complete()["ChecksumType"] == "COMPOSITE"


def test_the_checksums_of_all_parts_are_of_the_algorithm_of_the_upload(s3: Any) -> None:
    upload = Upload(s3, "mixed", ChecksumAlgorithm="SHA256")
    with refuse_requests(
        400, "InvalidRequest", "expected checksum Type: sha256, actual checksum Type: crc32"
    ):
        upload.part(1, LAST, ChecksumAlgorithm="CRC32")


def test_every_part_of_a_composite_checksum_has_one(s3: Any) -> None:
    bare = boto3.client(
        "s3",
        endpoint_url=s3.meta.endpoint_url,
        region_name="us-east-1",
        **SESSION,
        config=Config(request_checksum_calculation="when_required"),
    )
    whole = Upload(bare, "bare whole", **FULL).with_all_parts([LAST])
    assert whole.complete()["ChecksumCRC32"] == crc32(LAST)
    with refuse_requests(400, "InvalidRequest", "expected checksum Type: crc32, actual checksum Type: null"):
        Upload(bare, "bare", ChecksumAlgorithm="CRC32").part(1, LAST)


@pytest.mark.parametrize(
    "options",
    [
        {"ChecksumType": "FULL_OBJECT"},
        {"ChecksumType": "FULL_OBJECT", "ChecksumAlgorithm": "SHA256"},
        {"ChecksumType": "COMPOSITE", "ChecksumAlgorithm": "CRC64NVME"},
    ],
)
def test_a_checksum_type_fits_its_algorithm(s3: Any, options: dict[str, str]) -> None:
    with refuse_requests(400, "InvalidRequest", "checksum"):
        Upload(s3, "unfit", **options)


def test_a_copy_keeps_the_checksum_of_the_whole_content(s3: Any) -> None:
    full = {"ChecksumCRC32": crc32(WHOLE), "ChecksumType": "FULL_OBJECT"}
    Upload(s3, "whole", **FULL).with_all_parts([FIRST, LAST]).complete()
    s3.copy_object(Bucket=BUCKET, Key="copy", CopySource=f"{BUCKET}/whole")
    assert stored_checksums(s3, "copy") == full
    upload = Upload(s3, "parts", ChecksumAlgorithm="CRC32").with_all_parts([FIRST, LAST])
    for part, content in zip(upload.parts, (FIRST, LAST), strict=True):
        part["ChecksumCRC32"] = crc32(content)
    upload.complete()
    assert stored_checksums(s3, "parts")["ChecksumType"] == "COMPOSITE"
    s3.copy_object(Bucket=BUCKET, Key="copy of parts", CopySource=f"{BUCKET}/parts")
    assert stored_checksums(s3, "copy of parts") == full


def test_a_listing_says_which_algorithm_an_object_has(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="listed/it", Body=b"body", ChecksumSHA256=sha256(b"body"))
    (content,) = s3.list_objects_v2(Bucket=BUCKET, Prefix="listed/")["Contents"]
    assert content["ChecksumAlgorithm"] == ["SHA256"]
