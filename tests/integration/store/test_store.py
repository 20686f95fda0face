"""The content store: where it keeps what, and copies on the server."""

from __future__ import annotations

import io

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError
from urllib3 import HTTPResponse

from tests.support.artifact_bucket import BUCKET, ArtifactBucket
from triton_fleet.store.content_store import (
    copy_by_parts,
    copy_object,
    digest_of,
    files_marker,
    files_prefix,
    list_objects,
    store_key,
)

DIGEST = "sha256:" + "a" * 64
LARGE = bytes(range(256)) * (6 << 12)  # 6 MiB: two parts of which the first has the least size


def test_the_store_names_everything_by_the_digest() -> None:
    name = "archives/" + "a" * 64
    assert (store_key(DIGEST), files_prefix(DIGEST), files_marker(DIGEST)) == (
        f"{name}.tar.gz",
        f"{name}/",
        f"{name}.files",
    )


def test_a_listing_has_all_pages_with_sizes_and_names_as_they_are(
    artifact_bucket: ArtifactBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    names = {f"archives/{number:02}": b"x" * (number % 3) for number in range(31)}
    for key, body in names.items():
        artifact_bucket.put(key, body)
    artifact_bucket.put("archives/été modèle/a b+c%20.bin", b"1234")
    artifact_bucket.requests.clear()
    objects = list_objects(artifact_bucket.s3, BUCKET, "archives/")
    assert artifact_bucket.requests == ["ListObjectsV2"] * 4  # pages
    assert {key: item.size for key, item in objects.items()} == {
        **{key: len(body) for key, body in names.items()},
        "archives/été modèle/a b+c%20.bin": 4,
    }


def test_a_listing_can_leave_out_what_lies_deeper(artifact_bucket: ArtifactBucket) -> None:
    for key in ("archives/a.tar.gz", "archives/b/config.pbtxt", "archives/b.files"):
        artifact_bucket.put(key)
    assert list(list_objects(artifact_bucket.s3, BUCKET, "archives/", below=False)) == [
        "archives/a.tar.gz",
        "archives/b.files",
    ]


def copy(artifact_bucket: ArtifactBucket, key: str, *, overwrite: bool, whole: int = 5 << 30) -> bool:
    return copy_object(
        artifact_bucket.s3, BUCKET, "from", BUCKET, key, DIGEST, overwrite=overwrite, copied_whole=whole
    )


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("key", ["to", "endpoints/été/a b+c%20.tar.gz"])
def test_a_copy_says_which_tar_stream_it_is(
    artifact_bucket: ArtifactBucket, key: str, overwrite: bool
) -> None:
    artifact_bucket.put("from", b"content")
    assert copy(artifact_bucket, key, overwrite=overwrite)
    assert artifact_bucket.body(key) == b"content"
    assert digest_of(artifact_bucket.s3, BUCKET, key) == DIGEST


def test_a_copy_of_what_is_too_large_for_one_request_is_made_by_parts(
    artifact_bucket: ArtifactBucket,
) -> None:
    artifact_bucket.put("from", LARGE)
    artifact_bucket.requests.clear()
    assert copy(artifact_bucket, "to", overwrite=True, whole=len(LARGE) - 1)
    assert "UploadPartCopy" in artifact_bucket.requests
    assert "CopyObject" not in artifact_bucket.requests
    assert artifact_bucket.body("to") == LARGE
    assert digest_of(artifact_bucket.s3, BUCKET, "to") == DIGEST


def test_parts_are_put_together_in_their_order(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.put("from", LARGE + b"the end")
    source: dict[str, str] = {"Bucket": BUCKET, "Key": "from"}
    artifact_bucket.requests.clear()
    copy_by_parts(artifact_bucket.s3, source, BUCKET, "to", {}, overwrite=True, part=5 << 20)  # type: ignore[arg-type]
    assert artifact_bucket.requests.count("UploadPartCopy") == 2
    assert artifact_bucket.body("to") == LARGE + b"the end"


@pytest.mark.parametrize("whole", [5 << 30, 0])
def test_a_key_that_is_taken_stays_as_it_is(artifact_bucket: ArtifactBucket, whole: int) -> None:
    artifact_bucket.put("from", b"new")
    artifact_bucket.put("to", b"old")
    assert not copy(artifact_bucket, "to", overwrite=False, whole=whole)
    assert artifact_bucket.body("to") == b"old"
    assert copy(artifact_bucket, "to", overwrite=True, whole=whole)
    assert artifact_bucket.body("to") == b"new"


@pytest.mark.parametrize(("whole", "operation"), [(5 << 30, "CopyObject"), (0, "CompleteMultipartUpload")])
def test_a_copy_that_meets_another_is_tried_again(
    artifact_bucket: ArtifactBucket, whole: int, operation: str
) -> None:
    def conflict(request: AWSPreparedRequest, **_: object) -> AWSResponse | None:
        if conflicts:
            conflicts.pop()
            body = b"<Error><Code>ConditionalRequestConflict</Code><Message>again</Message></Error>"
            raw = HTTPResponse(io.BytesIO(body), preload_content=False)
            return AWSResponse(request.url, 409, HTTPHeaders(), raw)
        return None

    artifact_bucket.put("from", b"content")
    conflicts = [1, 2]
    artifact_bucket.s3.meta.events.register(f"before-send.s3.{operation}", conflict)  # type: ignore[arg-type]
    assert copy(artifact_bucket, "to", overwrite=False, whole=whole)
    assert artifact_bucket.body("to") == b"content"
    conflicts += [1, 2, 3]
    with pytest.raises(ClientError, match="ConditionalRequestConflict"):
        copy(artifact_bucket, "other", overwrite=False, whole=whole)


def test_a_copy_that_comes_to_nothing_leaves_no_upload_behind(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.put("from", LARGE)
    artifact_bucket.put("to", b"old")
    copy(artifact_bucket, "to", overwrite=False, whole=0)
    with pytest.raises(ClientError, match="Not Found"):
        copy_by_parts(artifact_bucket.s3, {"Bucket": BUCKET, "Key": "none"}, BUCKET, "to", {}, overwrite=True)
    with pytest.raises(ClientError, match="InvalidRange|EntityTooSmall"):
        copy_by_parts(
            artifact_bucket.s3,
            {"Bucket": BUCKET, "Key": "from"},
            BUCKET,
            "to",
            {},
            overwrite=True,
            part=1 << 20,
        )
    assert "Uploads" not in artifact_bucket.s3.list_multipart_uploads(Bucket=BUCKET)
    assert artifact_bucket.body("to") == b"old"


def test_the_digest_of_an_object_is_what_its_metadata_says(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.put("by-hand")
    assert digest_of(artifact_bucket.s3, BUCKET, "by-hand") == ""
    assert digest_of(artifact_bucket.s3, BUCKET, "nothing") is None
