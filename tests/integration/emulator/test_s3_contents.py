"""The embedded S3 keeps each byte once, and never a large object in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from fleet_emulator.s3.content import BLOCK, IN_MEMORY, Content, Spool
from tests.support.embedded_s3 import BUCKET, FIRST, LAST, Upload, embedded_s3

PARTS = 8


@pytest.fixture
def s3() -> Iterator[Any]:
    with embedded_s3() as s3:
        yield s3


def test_a_large_object_is_completed_copied_and_read_in_ranges_without_being_in_memory(s3: Any) -> None:
    options = {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}
    upload = Upload(s3, "large", **options).with_all_parts([FIRST] * PARTS)
    tracemalloc.start()
    try:
        upload.complete()
        s3.copy_object(Bucket=BUCKET, Key="copy", CopySource=f"{BUCKET}/large")
        last = s3.get_object(Bucket=BUCKET, Key="copy", Range="bytes=-256")["Body"].read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert last == FIRST[-256:]
    assert peak < len(FIRST) * PARTS // 2  # the web server itself takes 10 MB for each request


def test_versions_are_listed_where_large_objects_lie(s3: Any) -> None:
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    Upload(s3, "large").with_all_parts([FIRST, LAST]).complete()
    s3.put_object(Bucket=BUCKET, Key="large", Body=FIRST)
    versions = s3.list_object_versions(Bucket=BUCKET, Prefix="large")["Versions"]
    assert [(version["Size"], version["IsLatest"]) for version in versions] == [
        (len(FIRST), True),
        (len(FIRST + LAST), False),
    ]


def test_a_large_body_is_read_while_it_is_sent(s3: Any) -> None:
    Upload(s3, "sent").with_all_parts([FIRST] * PARTS).complete()
    answer = s3.get_object(Bucket=BUCKET, Key="sent")["Body"]
    assert answer.read(len(FIRST)) == FIRST
    s3.delete_object(Bucket=BUCKET, Key="sent")
    rest = answer.read()
    assert (len(rest), rest[-len(FIRST) :] == FIRST) == ((PARTS - 1) * len(FIRST), True)


@pytest.mark.parametrize("size", [0, 1, IN_MEMORY, IN_MEMORY + 1, BLOCK * 3 + 7])
def test_a_body_is_given_back_whatever_its_size(s3: Any, size: int) -> None:
    body = (FIRST * 2)[:size]
    s3.put_object(Bucket=BUCKET, Key="sized", Body=body)
    assert s3.get_object(Bucket=BUCKET, Key="sized")["Body"].read() == body


def test_any_slice_of_joined_contents_is_the_slice_of_their_bytes() -> None:
    spool = Spool()
    bodies = [b"", LAST, FIRST, b"x", FIRST[: IN_MEMORY + 3]]
    content, plain = Content.concatenate(spool.keep(body) for body in bodies), b"".join(bodies)
    assert len(content) == len(plain)
    edges = [
        0,
        3,
        len(LAST),
        len(LAST) + 1,
        len(LAST) + len(FIRST),
        len(plain) - 5,
        len(plain),
        len(plain) + 9,
    ]
    for start in edges:
        for end in edges:
            assert b"".join(content[start:end]) == plain[start:end]
            assert b"".join(content[start:end][1:-1]) == plain[start:end][1:-1]
