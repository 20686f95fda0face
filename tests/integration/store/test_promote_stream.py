"""An object that goes from one account to another through this process arrives whole, or not at all."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.response import StreamingBody

from tests.support.promotion import Promotion
from triton_fleet.findings import CannotRunError
from triton_fleet.store.upload.object import ObjectPlace
from triton_fleet.store.upload.stream import Streams, source_object

pytestmark = pytest.mark.nightly


def copy_object(promotion: Promotion, **changes: Any) -> bool:
    """Whether an object `one`, found with these changes, becomes the object `two`."""
    s3, bucket = promotion.s3("staging"), promotion.bucket("staging")
    s3.put_object(Bucket=bucket, Key="one", Body=b"12345")
    actual_object = replace(source_object(s3, ObjectPlace(bucket, "one")), **changes)
    with Streams() as streams:
        return streams.copy(
            actual_object, s3, ObjectPlace(bucket, "two"), "", lambda _: None, only_if_new=True
        )


def test_what_arrives_with_another_checksum_is_refused_and_not_kept(promotion: Promotion) -> None:
    with pytest.raises(CannotRunError, match="the bytes received of s3://.*/one do not have its checksum"):
        copy_object(promotion, crc="AAAAAA==")
    assert promotion.keys("staging") == ["one"]


def test_an_object_that_is_replaced_while_it_is_copied_is_refused(promotion: Promotion) -> None:
    with pytest.raises(ClientError, match="PreconditionFailed"):
        copy_object(promotion, etag='"of another"')
    assert promotion.keys("staging") == ["one"]


def test_a_key_that_another_promotion_takes_meanwhile_stays_as_it_is(promotion: Promotion) -> None:
    s3, bucket = promotion.s3("staging"), promotion.bucket("staging")
    s3.put_object(Bucket=bucket, Key="two", Body=b"theirs")
    assert not copy_object(promotion)
    assert s3.get_object(Bucket=bucket, Key="two")["Body"].read() == b"theirs"


def test_where_a_connection_breaks_the_next_one_goes_on(promotion: Promotion) -> None:
    reader = promotion.another_s3("staging")
    broken_numbers: list[int] = []

    def break_first(parsed: dict[str, Any], **_: object) -> None:
        if not broken_numbers:
            broken_numbers.append(1)
            parsed["Body"] = StreamingBody(io.BytesIO(b"12"), 5)

    reader.meta.events.register("after-call.s3.GetObject", break_first)
    assert copy_object(promotion, s3=reader)
    result = promotion.s3("staging").get_object(Bucket=promotion.bucket("staging"), Key="two")
    assert (broken_numbers, result["Body"].read()) == ([1], b"12345")


def test_what_the_server_may_not_copy_goes_through_this_process(promotion: Promotion) -> None:
    (archive,) = promotion.test().archives
    client = promotion.another_s3("qa")
    for call in ("CopyObject", "UploadPartCopy"):
        client.meta.events.register(f"before-call.s3.{call}", _deny)
    result = promotion.promote("qa", target_s3=client)
    assert (result.copies, result.streams) == (1, 1)
    assert promotion.keys("qa", "archives/") == [f"archives/{archive.digest.removeprefix('sha256:')}.tar.gz"]
    assert "Uploads" not in client.list_multipart_uploads(Bucket=promotion.bucket("qa"))


def _deny(**_: object) -> None:
    answer: Any = {
        "Error": {"Code": "AccessDenied", "Message": "Access Denied"},
        "ResponseMetadata": {"HTTPStatusCode": 403},
    }
    raise ClientError(answer, "CopyObject")
