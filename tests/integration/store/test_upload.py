"""An archive arrives in S3 whole and as it was meant."""

from __future__ import annotations

import gzip
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.support.uploading import (
    BUCKET,
    LARGE,
    MIB,
    NOISE,
    PLACE,
    SMALL,
    Stream,
    UploadBucket,
    is_complete,
    is_put,
)
from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.store.upload.archives import Uploads
from triton_fleet.store.upload.object import ContentChangedError


@pytest.mark.parametrize("size", [0, SMALL, LARGE])
def test_the_object_is_the_packed_stream_and_says_its_digest(bucket: UploadBucket, size: int) -> None:
    stream = Stream(size)
    assert bucket.upload(stream)
    result = bucket.s3.get_object(Bucket=BUCKET, Key=PLACE.key)
    content = gzip.decompress(result["Body"].read())
    assert (
        f"sha256:{hashlib.sha256(content).hexdigest()}" == stream.digest == result["Metadata"]["tar-digest"]
    )


def test_a_small_archive_is_one_request_and_a_large_one_comes_by_parts(bucket: UploadBucket) -> None:
    bucket.upload(Stream(SMALL))
    assert [request.method for request in bucket.proxy.requests] == ["PUT"]
    bucket.upload(Stream(LARGE), replace(PLACE, key="other"))
    numbers = [
        number for number in range(1, 5) if any(request.is_part(number) for request in bucket.proxy.requests)
    ]
    assert numbers == [1, 2, 3]


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_every_request_that_writes_carries_the_checksum_of_what_it_writes(
    bucket: UploadBucket, size: int
) -> None:
    bucket.upload(Stream(size))
    writes = [request for request in bucket.proxy.requests if request.method == "PUT" or is_complete(request)]
    assert writes
    assert all("x-amz-checksum-crc32" in {name.lower() for name in write.headers} for write in writes)


def test_progress_tells_of_every_byte_of_the_stream(bucket: UploadBucket) -> None:
    stream, report = Stream(LARGE), list[int]()
    with Uploads(bucket.s3) as uploads:
        uploads.archive(PLACE, stream.write, digest=stream.digest, size=stream.size, progress=report.append)
    assert sum(report) == stream.size
    assert len(report) > 10


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_another_content_than_was_locked_is_not_put(bucket: UploadBucket, size: int) -> None:
    stream = Stream(size)
    expected_digest, stream.digest = stream.digest, "sha256:" + "0" * 64
    with pytest.raises(ContentChangedError) as refusal:
        bucket.upload(stream)
    assert refusal.value.content == expected_digest
    assert bucket.is_empty


@pytest.mark.parametrize("locked_number", [SMALL, LARGE])
def test_a_repository_that_has_grown_is_read_no_further_than_was_locked(
    bucket: UploadBucket, locked_number: int
) -> None:
    read = 0

    def grown(sink: Sink) -> None:
        nonlocal read
        for _ in range(100):
            read += MIB
            sink.write(NOISE)

    with pytest.raises(ContentChangedError, match="longer than"), Uploads(bucket.s3) as uploads:
        uploads.archive(PLACE, grown, digest="sha256:0", size=locked_number)
    assert read <= locked_number + MIB
    assert bucket.is_empty


def test_a_source_that_breaks_off_leaves_nothing(bucket: UploadBucket) -> None:
    stream = Stream(LARGE)

    def broken_stream(sink: Sink) -> None:
        stream.write(sink)
        raise FindingsError([Finding(code="FL305", message="the file changed while it was read")])

    with pytest.raises(FindingsError, match="FL305"), Uploads(bucket.s3) as uploads:
        uploads.archive(PLACE, broken_stream, digest=stream.digest, size=stream.size)
    assert bucket.is_empty


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_who_comes_second_leaves_the_first_ones_object_as_it_is(bucket: UploadBucket, size: int) -> None:
    bucket.s3.put_object(Bucket=BUCKET, Key=PLACE.key, Body=b"the first one's")
    assert not bucket.upload(Stream(size))
    assert bucket.body(PLACE.key) == b"the first one's"
    assert bucket.uploads == []


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_of_two_at_one_time_one_wins_and_nothing_is_left_of_the_other(
    bucket: UploadBucket, size: int
) -> None:
    stream = Stream(size)
    came, may_go = bucket.proxy.hold(is_put if size == SMALL else is_complete)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(bucket.upload, stream)
        came.wait()
        assert bucket.upload(stream)
        may_go.set()
        assert not first.result()
    assert bucket.keys == [PLACE.key]
    assert bucket.uploads == []


def test_an_archive_that_no_part_in_the_budget_could_hold_is_refused_before_it_is_read(
    bucket: UploadBucket,
) -> None:
    def fail_on_call(_: Sink) -> None:
        raise AssertionError("it was read")

    with pytest.raises(CannotRunError, match="would be larger than 625 GiB"), Uploads(bucket.s3) as uploads:
        uploads.archive(PLACE, fail_on_call, digest="sha256:0", size=1 << 40)
