"""An archive without compression: each of its files is an object, and the marker comes last."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.support.s3_repositories import digest, pack_files
from tests.support.uploading import (
    BUCKET,
    FILE,
    LARGE,
    NOISE,
    SMALL,
    Stream,
    UploadBucket,
    is_complete,
    is_put,
)
from triton_fleet.findings import CannotRunError
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.spec.source import Mark
from triton_fleet.store.sources.s3_object import S3Location
from triton_fleet.store.sources.s3_source import S3ArchiveSource, S3PrefixSource
from triton_fleet.store.upload.archives import Uploads
from triton_fleet.store.upload.object import ContentChangedError

MARKER, KEPT_MARKER = "p.files", "p/ensemble/1/PLACEHOLDER"


def test_each_file_is_an_object_and_an_empty_folder_holds_one_that_is_not_hidden(
    bucket: UploadBucket,
) -> None:
    bucket.upload_files(Stream(LARGE))
    assert bucket.keys == [MARKER, KEPT_MARKER, f"p/{FILE}"]
    assert bucket.body(f"p/{FILE}") == NOISE * 20


def test_the_marker_says_the_size_of_every_object(bucket: UploadBucket) -> None:
    bucket.upload_files(Stream(LARGE, 0, SMALL))
    sizes = json.loads(bucket.body(MARKER))
    assert {f"p/{path}": size for path, size in sizes.items()} == {
        key: len(bucket.body(key)) for key in bucket.keys if key != MARKER
    }


def test_the_marker_is_written_last(bucket: UploadBucket) -> None:
    bucket.upload_files(Stream(SMALL, LARGE, SMALL))
    writes = [request.path for request in bucket.proxy.requests if is_put(request) or is_complete(request)]
    assert len(writes) == 5
    assert [path.endswith(MARKER) for path in writes] == [False] * 4 + [True]


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_a_repository_in_s3_is_uploaded_file_by_file(bucket: UploadBucket, form: str) -> None:
    files = {"m/config.pbtxt": b"c", "m/1/model.bin": NOISE * 20, "m/1/model.py": b""}
    stream = pack_files(files)
    objects = {f"team/{path}": content for path, content in files.items()}
    for key, content in (objects if form == "team/" else {form: gzip.compress(stream, 1)}).items():
        bucket.s3.put_object(Bucket=BUCKET, Key=key, Body=content)
    location = S3Location(bucket=BUCKET, key=form, mark=Mark(Path("spec.yaml"), 1, 1))
    source_type = S3PrefixSource if form == "team/" else S3ArchiveSource
    source, progress = source_type(bucket.s3, location, digest(stream), ServingContainer()), list[int]()
    with Uploads(bucket.s3) as uploads:
        uploads.files(
            BUCKET, "p/", MARKER, source, digest=digest(stream), size=len(stream), progress=progress.append
        )
    contents = {key.removeprefix("p/"): bucket.body(key) for key in bucket.keys if key.startswith("p/")}
    assert contents == files
    assert json.loads(bucket.body(MARKER)) == {path: len(content) for path, content in files.items()}
    assert sum(progress) == len(stream)


def test_a_folder_that_goes_after_it_was_looked_at_is_uploaded_as_it_was(bucket: UploadBucket) -> None:
    after = Stream(SMALL)
    after.drop_folders()
    bucket.upload_files(Stream(SMALL), after)
    assert KEPT_MARKER in bucket.keys


def test_without_the_expected_content_no_file_is_put(bucket: UploadBucket) -> None:
    stream = Stream(SMALL)
    stream.digest = "sha256:0"
    with pytest.raises(ContentChangedError):
        bucket.upload_files(stream)
    assert bucket.is_empty


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_file_that_changes_after_it_was_looked_at_is_not_put_and_there_is_no_marker(
    bucket: UploadBucket, size: int
) -> None:
    with pytest.raises(ContentChangedError):
        bucket.upload_files(Stream(size), Stream(size + 1))
    assert bucket.is_empty


@pytest.mark.parametrize("after", [Stream(SMALL), Stream(SMALL, SMALL, SMALL)], ids=["one less", "one more"])
def test_files_that_come_or_go_after_they_were_looked_at_leave_no_marker(
    bucket: UploadBucket, after: Stream
) -> None:
    with pytest.raises(ContentChangedError):
        bucket.upload_files(Stream(SMALL, SMALL), after)
    assert MARKER not in bucket.keys


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_file_that_s3_refuses_leaves_no_marker_and_no_upload(bucket: UploadBucket, size: int) -> None:
    bucket.proxy.deny(lambda request: "file.bin" in request.path and (is_put(request) or request.is_part(2)))
    with pytest.raises(CannotRunError, match="model file.bin could not be written: .*AccessDenied"):
        bucket.upload_files(Stream(size))
    assert MARKER not in bucket.keys
    assert bucket.uploads == []


def test_what_was_refused_is_told_before_all_other_files_are_put(bucket: UploadBucket) -> None:
    bucket.proxy.deny(is_put)
    with pytest.raises(CannotRunError, match="AccessDenied"):
        bucket.upload_files(Stream(*[SMALL] * 100))
    assert bucket.proxy.count(is_put) < 100


def test_the_next_run_writes_what_was_broken_off(bucket: UploadBucket) -> None:
    fault = bucket.proxy.refuse(lambda request: MARKER in request.path, 403, "AccessDenied", times=1)
    with pytest.raises(CannotRunError):
        bucket.upload_files(Stream(SMALL))
    bucket.upload_files(Stream(SMALL))
    assert fault.hits == 1
    assert bucket.keys == [MARKER, KEPT_MARKER, f"p/{FILE}"]
