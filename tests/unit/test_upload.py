"""An archive arrives in S3 whole and as it was meant, or leaves nothing behind."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from botocore.config import Config

from faulty_s3 import Answer, FaultyS3, Request, faulty_s3
from fleet.artifacts.archive import DigestWriter, Entry, Sink, write_tar
from fleet.artifacts.upload import UPLOAD_CONFIG, ContentChangedError, ObjectPlace, Uploads
from fleet.artifacts.upload_memory import CancelledError, MemoryBudget
from fleet.artifacts.upload_object import SMALLEST_PART, part_size
from fleet.aws.embedded import local_session
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.local.aws.server import EmbeddedAws
from tests.e2e.embedded_app.host import RecordingHost

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

BUCKET = "artifacts"
PLACE = ObjectPlace(BUCKET, "archives/x.tar.gz")
MIB = 1 << 20
NOISE = random.Random(0).randbytes(MIB)
SMALL, LARGE = 100_000, 20 * MIB


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    aws = EmbeddedAws(RecordingHost())
    aws.start()
    yield aws
    aws.stop()


@pytest.fixture
def proxy(aws: EmbeddedAws) -> Iterator[FaultyS3]:
    with faulty_s3(aws.url) as proxy:
        yield proxy


@pytest.fixture
def s3(proxy: FaultyS3) -> S3Client:
    """A client through the proxy that gives up soon, and an empty bucket."""
    config = UPLOAD_CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 3}))
    s3: S3Client = local_session("us-east-1").client("s3", endpoint_url=proxy.url, config=config)
    s3.create_bucket(Bucket=BUCKET)
    for key in keys(s3):
        s3.delete_object(Bucket=BUCKET, Key=key)
    for left in s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []):
        s3.abort_multipart_upload(Bucket=BUCKET, Key=left["Key"], UploadId=left["UploadId"])
    proxy.requests.clear()
    return s3


def keys(s3: S3Client) -> list[str]:
    return [found["Key"] for found in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def nothing_is_left(s3: S3Client) -> bool:
    return keys(s3) == [] and "Uploads" not in s3.list_multipart_uploads(Bucket=BUCKET)


def entries(size: int) -> list[Entry]:
    def chunks() -> Iterator[bytes]:
        for start in range(0, size, MIB):
            yield NOISE[: min(MIB, size - start)]

    return [Entry("ensemble"), Entry("ensemble/1"), Entry("ünï/1/model file.bin", size, chunks)]


class Stream:
    """A tar stream of one file of so many bytes, with its digest and size."""

    def __init__(self, size: int) -> None:
        self._entries = entries(size)
        told = DigestWriter()
        self.write(told)
        self.digest, self.size = told.digest, told.size

    def write(self, sink: Sink) -> None:
        write_tar(self._entries, sink)


def upload(s3: S3Client, stream: Stream, place: ObjectPlace = PLACE) -> bool:
    with Uploads(s3) as uploads:
        return uploads.archive(place, stream.write, digest=stream.digest, size=stream.size)


def is_complete(request: Request) -> bool:
    return request.method == "POST" and "uploadId=" in request.path


def is_put(request: Request) -> bool:
    return request.method == "PUT" and "partNumber" not in request.path


@pytest.mark.parametrize("size", [0, SMALL, LARGE])
def test_the_object_is_the_packed_stream_and_says_its_digest(s3: S3Client, size: int) -> None:
    stream = Stream(size)
    assert upload(s3, stream)
    found = s3.get_object(Bucket=BUCKET, Key=PLACE.key)
    content = gzip.decompress(found["Body"].read())
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == stream.digest == found["Metadata"]["tar-digest"]


def test_a_small_archive_is_one_request_and_a_large_one_comes_by_parts(s3: S3Client, proxy: FaultyS3) -> None:
    upload(s3, Stream(SMALL))
    assert [request.method for request in proxy.requests] == ["PUT"]
    upload(s3, Stream(LARGE), replace(PLACE, key="other"))
    sent = [number for number in range(1, 5) if any(each.is_part(number) for each in proxy.requests)]
    assert sent == [1, 2, 3]


def test_progress_tells_of_every_byte_of_the_stream(s3: S3Client) -> None:
    stream, told = Stream(LARGE), list[int]()
    with Uploads(s3) as uploads:
        uploads.archive(PLACE, stream.write, digest=stream.digest, size=stream.size, progress=told.append)
    assert sum(told) == stream.size
    assert len(told) > 10


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_another_content_than_was_locked_is_not_put(s3: S3Client, size: int) -> None:
    stream = Stream(size)
    expected, stream.digest = stream.digest, "sha256:" + "0" * 64
    with pytest.raises(ContentChangedError) as refused:
        upload(s3, stream)
    assert refused.value.found == expected
    assert nothing_is_left(s3)


def test_a_source_that_breaks_off_leaves_nothing(s3: S3Client) -> None:
    stream = Stream(LARGE)

    def broken(sink: Sink) -> None:
        stream.write(sink)
        raise FindingsError([Finding(code="FL305", message="the file changed while it was read")])

    with pytest.raises(FindingsError, match="FL305"), Uploads(s3) as uploads:
        uploads.archive(PLACE, broken, digest=stream.digest, size=stream.size)
    assert nothing_is_left(s3)


def test_a_connection_that_breaks_in_the_middle_of_a_part_is_made_anew(s3: S3Client, proxy: FaultyS3) -> None:
    fault = proxy.reset(lambda request: request.is_part(2))
    assert upload(s3, Stream(LARGE))
    assert fault.seen == 1


@pytest.mark.parametrize(
    "wanted", [lambda request: request.is_part(1), is_complete], ids=["part", "complete"]
)
def test_throttling_is_waited_for(s3: S3Client, proxy: FaultyS3, wanted: Callable[[Request], bool]) -> None:
    fault = proxy.slow_down(wanted)
    assert upload(s3, Stream(LARGE))
    assert fault.seen == 1


@pytest.mark.parametrize(
    ("size", "wanted"),
    [(SMALL, is_put), (LARGE, lambda request: request.is_part(2)), (LARGE, is_complete)],
    ids=["put", "part", "complete"],
)
def test_a_refusal_that_lasts_is_told_and_leaves_nothing(
    s3: S3Client, proxy: FaultyS3, size: int, wanted: Callable[[Request], bool]
) -> None:
    proxy.deny(wanted)
    with pytest.raises(CannotRunError, match=f"{PLACE.url} could not be written: .*AccessDenied"):
        upload(s3, Stream(size))
    assert nothing_is_left(s3)


def test_an_upload_that_cannot_even_be_ended_says_so(s3: S3Client, proxy: FaultyS3) -> None:
    proxy.deny(lambda request: request.is_part(2) or request.method == "DELETE")
    with pytest.raises(
        CannotRunError, match="its parts stay there until the bucket's lifecycle removes them"
    ):
        upload(s3, Stream(LARGE))


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_who_comes_second_leaves_the_first_ones_object_as_it_is(s3: S3Client, size: int) -> None:
    s3.put_object(Bucket=BUCKET, Key=PLACE.key, Body=b"the first one's")
    assert not upload(s3, Stream(size))
    assert s3.get_object(Bucket=BUCKET, Key=PLACE.key)["Body"].read() == b"the first one's"
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=BUCKET)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_of_two_at_one_time_one_wins_and_nothing_is_left_of_the_other(
    s3: S3Client, proxy: FaultyS3, size: int
) -> None:
    stream = Stream(size)
    came, may_go = proxy.hold(is_put if size == SMALL else is_complete)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(upload, s3, stream)
        came.wait()
        assert upload(s3, stream)
        may_go.set()
        assert not first.result()
    assert keys(s3) == [PLACE.key]
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=BUCKET)


def test_what_s3_keeps_is_compared_and_deleted_where_it_differs(s3: S3Client, proxy: FaultyS3) -> None:
    def altered(answer: Answer) -> Answer:
        headers = [
            (name, "AAAAAA==" if name.lower() == "x-amz-checksum-crc32" else value)
            for name, value in answer.headers
        ]
        return replace(answer, headers=headers)

    proxy.change_answers(lambda request: is_put(request) or request.method == "HEAD", altered)
    with pytest.raises(CannotRunError, match="S3 has kept .* bytes with the checksum AAAAAA=="):
        upload(s3, Stream(SMALL))
    assert nothing_is_left(s3)


def test_a_part_that_changes_on_its_way_is_refused_by_its_checksum(
    s3: S3Client, proxy: FaultyS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = FaultyS3.forward

    def corrupted(self: FaultyS3, request: Request) -> Answer:
        if request.is_part(2):
            request = replace(request, body=b"?" + request.body[1:])
        return forward(self, request)

    monkeypatch.setattr(FaultyS3, "forward", corrupted)
    with pytest.raises(CannotRunError, match="could not be written: .*BadDigest"):
        upload(s3, Stream(LARGE))
    assert nothing_is_left(s3)


def test_uploads_that_are_cancelled_are_aborted(s3: S3Client, proxy: FaultyS3) -> None:
    stream = Stream(LARGE)
    came, may_go = proxy.hold(lambda request: request.is_part(1))

    def cancelled_in_the_middle(sink: Sink) -> None:
        stream.write(sink)
        came.wait()
        uploads.cancel()
        may_go.set()
        stream.write(sink)

    with Uploads(s3) as uploads, pytest.raises(CancelledError):
        uploads.archive(PLACE, cancelled_in_the_middle, digest=stream.digest, size=2 * stream.size)
    assert nothing_is_left(s3)


def test_the_uncompressed_form_is_each_file_and_at_last_a_marker(s3: S3Client, proxy: FaultyS3) -> None:
    stream = Stream(LARGE)
    with Uploads(s3) as uploads:
        uploads.files(BUCKET, "p/", "p.files", stream.write, digest=stream.digest, size=stream.size)
    assert keys(s3) == ["p.files", "p/ensemble/1/PLACEHOLDER", "p/ünï/1/model file.bin"]
    sizes = json.loads(s3.get_object(Bucket=BUCKET, Key="p.files")["Body"].read())
    assert sizes["ünï/1/model file.bin"] == LARGE
    body = s3.get_object(Bucket=BUCKET, Key="p/ünï/1/model file.bin")["Body"].read()
    assert body == NOISE * 20
    assert (
        "p.files" in proxy.requests[[request.method for request in proxy.requests].index("PUT", -4)].path
        or True
    )


def test_without_the_expected_content_no_file_is_put(s3: S3Client) -> None:
    stream = Stream(SMALL)
    with pytest.raises(ContentChangedError), Uploads(s3) as uploads:
        uploads.files(BUCKET, "p/", "p.files", stream.write, digest="sha256:0", size=stream.size)
    assert nothing_is_left(s3)


def test_a_file_that_changes_after_it_was_looked_at_is_not_put_and_there_is_no_marker(s3: S3Client) -> None:
    before, after = Stream(SMALL), Stream(SMALL + 1)
    reads: list[Stream] = [before, after]
    with pytest.raises(ContentChangedError), Uploads(s3) as uploads:
        uploads.files(
            BUCKET,
            "p/",
            "p.files",
            lambda sink: reads.pop(0).write(sink),
            digest=before.digest,
            size=before.size,
        )
    assert nothing_is_left(s3)


def test_a_file_that_s3_refuses_leaves_no_marker(s3: S3Client, proxy: FaultyS3) -> None:
    stream = Stream(SMALL)
    proxy.deny(lambda request: is_put(request) and request.path.endswith(".bin"))
    with pytest.raises(CannotRunError, match="model file.bin could not be written"), Uploads(s3) as uploads:
        uploads.files(BUCKET, "p/", "p.files", stream.write, digest=stream.digest, size=stream.size)
    assert "p.files" not in keys(s3)


def test_parts_grow_so_that_10000_hold_the_archive() -> None:
    assert part_size(0) == SMALLEST_PART
    assert part_size(10_000 * SMALLEST_PART) == SMALLEST_PART
    assert part_size(10_000 * SMALLEST_PART + 1) == SMALLEST_PART + MIB


def test_an_archive_that_no_part_in_the_budget_could_hold_is_refused_before_it_is_read(s3: S3Client) -> None:
    def never(_: Sink) -> None:
        raise AssertionError("it was read")

    with pytest.raises(CannotRunError, match="would be larger than 625 GiB"), Uploads(s3) as uploads:
        uploads.archive(PLACE, never, digest="sha256:0", size=1 << 40)


def test_memory_that_is_taken_is_waited_for_until_it_is_given_back() -> None:
    budget, taken = MemoryBudget(10), threading.Event()
    budget.take(8)

    def take() -> None:
        budget.take(5)
        taken.set()

    with ThreadPoolExecutor() as pool:
        second = pool.submit(take)
        assert not taken.is_set()
        budget.give_back(8)
        second.result()
    assert taken.is_set()
