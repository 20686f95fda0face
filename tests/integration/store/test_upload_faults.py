"""A network or an S3 that fails: it is waited for, or told, and nothing half is left."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.support.faulty_s3 import Answer, Request
from tests.support.uploading import (
    BUCKET,
    LARGE,
    PLACE,
    SMALL,
    Stream,
    UploadBucket,
    is_abort,
    is_complete,
    is_create,
    is_part_2,
    is_put,
)
from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.store.upload.archives import Uploads

pytestmark = pytest.mark.nightly

RequestMatch = Callable[[Request], bool]
WRITES = pytest.mark.parametrize(
    ("size", "matches"),
    [(SMALL, is_put), (LARGE, is_create), (LARGE, is_part_2), (LARGE, is_complete)],
    ids=["put", "create", "part", "complete"],
)


@WRITES
def test_a_connection_that_breaks_in_the_middle_is_made_anew(
    bucket: UploadBucket, size: int, matches: RequestMatch
) -> None:
    fault = bucket.proxy.reset(matches)
    assert bucket.upload(Stream(size))
    assert fault.hits == 1


@WRITES
def test_throttling_is_waited_for(bucket: UploadBucket, size: int, matches: RequestMatch) -> None:
    fault = bucket.proxy.slow_down(matches, times=2)
    assert bucket.upload(Stream(size))
    assert fault.hits == 2


@WRITES
@pytest.mark.parametrize(("status", "code"), [(403, "AccessDenied"), (500, "InternalError")])
def test_a_refusal_that_lasts_is_told_and_leaves_nothing(
    bucket: UploadBucket, size: int, matches: RequestMatch, status: int, code: str
) -> None:
    bucket.proxy.refuse(matches, status, code)
    with pytest.raises(CannotRunError, match=f"{PLACE.url} could not be written: .*{code}"):
        bucket.upload(Stream(size))
    assert bucket.is_empty


@pytest.mark.parametrize(
    ("size", "expected_value"), [(SMALL, is_put), (LARGE, is_complete)], ids=["put", "complete"]
)
def test_an_archive_that_arrived_though_the_answer_was_lost_stays_and_is_no_error(
    bucket: UploadBucket, size: int, expected_value: RequestMatch
) -> None:
    stream = Stream(size)
    fault = bucket.proxy.lose_answer(expected_value)
    bucket.upload(stream)
    assert fault.hits == 1
    assert len(gzip.decompress(bucket.body(PLACE.key))) == stream.size
    assert bucket.uploads == []


def test_a_completion_that_s3_has_forgotten_is_recognised_by_its_object(bucket: UploadBucket) -> None:
    bucket.proxy.lose_answer(is_complete)
    bucket.proxy.refuse(is_complete, 404, "NoSuchUpload")
    assert bucket.upload(Stream(LARGE))
    assert bucket.keys == [PLACE.key]


def test_an_upload_that_somebody_else_has_ended_is_told_and_no_parts_are_said_to_stay(
    bucket: UploadBucket,
) -> None:
    came, may_go = bucket.proxy.hold(is_complete)
    with ThreadPoolExecutor(1) as pool:
        upload = pool.submit(bucket.upload, Stream(LARGE))
        came.wait()
        (remaining_upload,) = bucket.s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
        bucket.s3.abort_multipart_upload(
            Bucket=BUCKET, Key=remaining_upload["Key"], UploadId=remaining_upload["UploadId"]
        )
        may_go.set()
        with pytest.raises(CannotRunError, match="could not be written: .*NoSuchUpload") as refusal:
            upload.result()
    assert "stay there" not in str(refusal.value)
    assert bucket.is_empty


@pytest.mark.parametrize(
    ("size", "expected_value"), [(SMALL, is_put), (LARGE, is_complete)], ids=["put", "complete"]
)
def test_a_conflict_with_another_writer_is_tried_again(
    bucket: UploadBucket, size: int, expected_value: RequestMatch
) -> None:
    fault = bucket.proxy.refuse(expected_value, 409, "ConditionalRequestConflict", times=2)
    assert bucket.upload(Stream(size))
    assert fault.hits == 2
    assert bucket.uploads == []


@pytest.mark.parametrize(
    ("size", "expected_value"), [(SMALL, is_put), (LARGE, is_complete)], ids=["put", "complete"]
)
def test_a_conflict_that_lasts_is_told_and_leaves_nothing(
    bucket: UploadBucket, size: int, expected_value: RequestMatch
) -> None:
    bucket.proxy.refuse(expected_value, 409, "ConditionalRequestConflict")
    with pytest.raises(CannotRunError, match="could not be written: .*ConditionalRequestConflict"):
        bucket.upload(Stream(size))
    assert bucket.is_empty


def test_an_upload_that_cannot_even_be_ended_says_so(bucket: UploadBucket) -> None:
    bucket.proxy.deny(lambda request: is_part_2(request) or is_abort(request))
    with pytest.raises(CannotRunError, match="its parts stay until the bucket's lifecycle"):
        bucket.upload(Stream(LARGE))


def test_an_upload_that_cannot_be_ended_after_its_source_broke_off_tells_both(bucket: UploadBucket) -> None:
    stream = Stream(LARGE)

    def broken_stream(sink: Sink) -> None:
        stream.write(sink)
        raise FindingsError([Finding(code="FL305", message="the file changed while it was read")])

    bucket.proxy.deny(is_abort)
    with (
        pytest.raises(CannotRunError, match=r"(?s)FL305.*its parts stay"),
        Uploads(bucket.s3) as uploads,
    ):
        uploads.archive(PLACE, broken_stream, digest=stream.digest, size=stream.size)


@pytest.mark.parametrize(
    ("size", "expected_value"), [(SMALL, is_put), (LARGE, is_part_2)], ids=["put", "part"]
)
def test_bytes_that_change_on_their_way_are_refused_by_their_checksum(
    bucket: UploadBucket, size: int, expected_value: RequestMatch
) -> None:
    bucket.proxy.alter(expected_value, lambda body: bytes([body[0] ^ 1]) + body[1:])
    with pytest.raises(CannotRunError, match="could not be written: .*XAmzContentSHA256Mismatch"):
        bucket.upload(Stream(size))
    assert bucket.is_empty


def test_what_s3_keeps_is_compared_and_deleted_where_it_differs(bucket: UploadBucket) -> None:
    def alter(answer: Answer) -> Answer:
        headers = [
            (name, "AAAAAA==" if name.lower() == "x-amz-checksum-crc32" else value)
            for name, value in answer.headers
        ]
        return replace(answer, headers=headers)

    bucket.proxy.change_answers(lambda request: is_put(request) or request.method == "HEAD", alter)
    with pytest.raises(CannotRunError, match="S3 has stored .* bytes with the checksum AAAAAA=="):
        bucket.upload(Stream(SMALL))
    assert bucket.is_empty
