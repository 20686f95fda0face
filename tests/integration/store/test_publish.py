"""A locked archive reaches the bucket once, and only as the lock says."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.support.artifact_bucket import BUCKET, ArtifactBucket, digest_of_bytes, empty_bucket
from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.store.publish.publish import PublishResult

SIZE = 10240
"""Of the tar stream of one small archive."""


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder) -> ArtifactBucket:
    return empty_bucket(aws_url, folder)


def test_the_model_data_is_the_tar_stream_that_the_lock_digests(bucket: ArtifactBucket) -> None:
    bucket.single()
    bucket.lock()
    assert bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=1, present=0)
    (endpoint,) = bucket.endpoints
    stream = gzip.decompress(bucket.body(endpoint.model_data))
    assert digest_of_bytes(stream) == endpoint.archives[0].digest


def test_it_is_kept_in_the_store_and_in_the_endpoints_prefix(bucket: ArtifactBucket) -> None:
    bucket.single()
    bucket.lock()
    bucket.publish()
    name = bucket.endpoints[0].archives[0].digest.removeprefix("sha256:")
    assert bucket.held() == [
        f"archives/{name}.tar.gz",
        f"endpoints/sentences/{name}.tar.gz",
        f"owners/sentences/{name}",
    ]


def test_what_is_there_is_known_from_listings_alone(bucket: ArtifactBucket) -> None:
    bucket.single()
    bucket.set_of({f"a{number}": f"x = {number}\n" for number in range(20)})
    bucket.lock()
    assert bucket.publish() == PublishResult(uploads=21, bytes=21 * SIZE, copies=21, present=0)
    bucket.requests.clear()
    assert bucket.publish() == PublishResult(present=21)
    assert bucket.requests == ["ListObjectsV2"] * 2


def test_what_is_published_needs_no_repository_any_more(bucket: ArtifactBucket, folder: FleetFolder) -> None:
    bucket.single()
    bucket.lock()
    bucket.publish()
    (folder.root / "sentences").rename(folder.root / "elsewhere")
    assert bucket.publish() == PublishResult(present=1)


def test_a_changed_set_is_a_new_prefix_of_which_only_the_change_is_uploaded(bucket: ArtifactBucket) -> None:
    bucket.set_of({"a": "x = 1\n", "b": "x = 2\n", "c": "x = 3\n"})
    bucket.lock()
    bucket.publish()
    before = bucket.endpoints[0].model_data
    bucket.set_of({"a": "x = 1\n", "b": "x = 4\n", "c": "x = 3\n"})
    bucket.lock()
    assert bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=3, present=0)
    after = bucket.endpoints[0].model_data
    assert before != after
    names = ["a.tar.gz", "b.tar.gz", "c.tar.gz"]
    assert bucket.held("endpoints/") == sorted(
        [before + name for name in names] + [after + name for name in names]
    )


def test_contents_that_are_equal_are_uploaded_once(bucket: ArtifactBucket) -> None:
    bucket.set_of({"a": "x = 1\n", "b": "x = 1\n"})
    bucket.set_of({"c": "x = 1\n"}, "other")
    bucket.lock()
    assert bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=3, present=0)
    assert len(bucket.held("archives/")) == 1


def test_of_equal_contents_of_an_endpoint_any_repository_that_still_has_it_will_do(
    bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    bucket.set_of({"a": "x = 1\n", "b": "x = 1\n"})
    bucket.lock()
    folder.write("zoo/a/model/1/model.py", "x = 2\n")
    assert bucket.publish().uploads == 1


class Interruption(BaseException):
    """What a KeyboardInterrupt is to the code under test."""


@pytest.mark.parametrize("operation", ["CopyObject", "ListObjectsV2"])
def test_a_run_that_was_interrupted_is_gone_on_with_by_the_next(
    bucket: ArtifactBucket, operation: str
) -> None:
    def interrupt(**_: object) -> None:
        raise Interruption

    bucket.set_of({"a": "x = 1\n", "b": "x = 2\n"})
    bucket.lock()
    event = f"before-call.s3.{operation}"
    bucket.s3.meta.events.register(event, interrupt)
    with pytest.raises(Interruption):
        bucket.publish()
    bucket.s3.meta.events.unregister(event, interrupt)
    uploaded = len(bucket.held("archives/"))
    assert bucket.publish() == PublishResult(
        uploads=2 - uploaded, bytes=(2 - uploaded) * SIZE, copies=2, present=0
    )
    assert bucket.publish() == PublishResult(present=2)


def test_a_repository_that_changed_since_the_lock_is_refused_by_its_archive_and_line(
    bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    bucket.single()
    bucket.lock()
    folder.write("sentences/embed/1/model.py", "x = 2\n")
    with pytest.raises(FindingsError) as refused:
        bucket.publish()
    (finding,) = refused.value.findings
    assert (finding.code, finding.file, finding.line) == (
        "FL303",
        folder.root / "model_specs/sentences.yaml",
        5,
    )
    assert finding.message == (
        "the repository of archive 'sentences' changed since the lock of 'sentences' was written"
    )
    assert finding.hint == "run `fleet lock --env dev sentences` and have the change reviewed"
    assert bucket.held() == []


def test_a_promoted_lock_is_not_to_be_written_anew(bucket: ArtifactBucket, folder: FleetFolder) -> None:
    bucket.single()
    bucket.lock()
    folder.environment(name="staging")
    lock = folder.root / "locks/dev/sentences.lock.yaml"
    lock.write_text(lock.read_text().replace("archives:", "promoted_from: staging\narchives:"))
    folder.write("sentences/embed/1/model.py", "x = 2\n")
    with pytest.raises(FindingsError, match="which was promoted from 'staging'") as refused:
        bucket.publish()
    assert "`fleet promote --from staging --to dev sentences`" in refused.value.findings[0].hint


def test_all_refusals_are_told_together_and_everything_else_is_published(
    bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    bucket.set_of({"a": "x = 1\n", "b": "x = 2\n", "c": "x = 3\n"})
    bucket.single()
    bucket.lock()
    folder.write("zoo/a/model/1/model.py", "x = 9\n")
    folder.write("sentences/embed/1/model.py", "x = 9\n")
    with pytest.raises(FindingsError) as refused:
        bucket.publish()
    assert [finding.code for finding in refused.value.findings] == ["FL303", "FL303"]
    model_data = bucket.endpoints[1].model_data
    assert bucket.held("endpoints/") == [f"{model_data}b.tar.gz", f"{model_data}c.tar.gz"]


def test_a_version_of_a_live_set_that_is_published_already_is_left_alone(bucket: ArtifactBucket) -> None:
    bucket.set_of({"a": "x = 1\n", "b": "x = 2\n"}, version=1)
    bucket.lock()
    assert bucket.publish().copies == 2
    bucket.requests.clear()
    assert bucket.publish() == PublishResult(present=2)
    assert sorted(bucket.requests) == ["HeadObject", "HeadObject", "ListObjectsV2"]


def test_a_published_version_of_a_live_set_is_never_overwritten(bucket: ArtifactBucket) -> None:
    bucket.set_of({"a": "x = 1\n", "b": "x = 2\n"}, version=1)
    bucket.lock()
    bucket.publish()
    before = bucket.body("endpoints/zoo/live/a-v1.tar.gz")
    bucket.set_of({"a": "x = 3\n", "b": "x = 2\n", "c": "x = 4\n"}, version=1)
    bucket.lock()
    with pytest.raises(FindingsError, match="FL304: s3://.*/live/a-v1.tar.gz has other content") as refused:
        bucket.publish()
    assert [finding.hint for finding in refused.value.findings] == ["raise the `version` of archive 'a'"]
    assert bucket.body("endpoints/zoo/live/a-v1.tar.gz") == before
    assert "endpoints/zoo/live/c-v1.tar.gz" in bucket.held()


def test_of_two_publishers_of_one_live_name_one_is_refused(
    bucket: ArtifactBucket, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = FleetFolder(tmp_path_factory.mktemp("other"))
    other = ArtifactBucket(elsewhere, bucket.s3, bucket.sagemaker, bucket.ecr)
    other.folder.environment()
    for each, code in ((bucket, "x = 1\n"), (other, "x = 2\n")):
        each.set_of({"a": code}, version=1)
        each.lock()

    def publish_the_other(**_: Any) -> None:
        bucket.s3.meta.events.unregister(event, publish_the_other)
        other.publish()

    event = "before-call.s3.CopyObject"
    bucket.s3.meta.events.register(event, publish_the_other)
    with pytest.raises(FindingsError, match="FL304"):
        bucket.publish()
    stream = gzip.decompress(bucket.body("endpoints/zoo/live/a-v1.tar.gz"))
    assert digest_of_bytes(stream) == other.endpoints[0].archives[0].digest


def test_what_was_put_into_the_store_by_hand_is_known_again_once_it_is_published(
    bucket: ArtifactBucket,
) -> None:
    bucket.set_of({"a": "x = 1\n"})
    bucket.lock()
    bucket.publish()
    (stored,) = bucket.held("archives/")
    bucket.put(stored, bucket.body(stored))
    bucket.set_of({"b": "x = 1\n"}, "live", version=1)
    bucket.lock()
    assert bucket.publish() == PublishResult(copies=1, present=1)
    assert bucket.publish() == PublishResult(present=2)


def test_files_that_are_not_compressed_are_published_as_they_are(
    bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    bucket.single(keys=", compression: none")
    folder.write("sentences/embed/1/été modèle.bin", "weights")
    folder.write("sentences/embed/1/empty.py", "")
    bucket.lock()
    assert bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=1, present=0)
    home = bucket.endpoints[0].model_data
    files = {key.removeprefix(home): bucket.body(key) for key in bucket.held(home) if not key.endswith("/")}
    assert files == {
        "embed/config.pbtxt": b'backend: "python"\n',
        "embed/1/empty.py": b"",
        "embed/1/model.py": b"x = 1\n",
        "embed/1/été modèle.bin": b"weights",
    }
    assert bucket.publish() == PublishResult(present=1)


@pytest.mark.parametrize("lost", ["endpoint", "marker"])
def test_files_that_are_not_all_there_are_made_whole(bucket: ArtifactBucket, lost: str) -> None:
    bucket.single(keys=", compression: none")
    bucket.lock()
    bucket.publish()
    file = f"{bucket.endpoints[0].model_data}embed/1/model.py"
    marker = next(key for key in bucket.held() if key.endswith(".files"))
    bucket.s3.delete_object(Bucket=BUCKET, Key=file if lost == "endpoint" else marker)
    done = bucket.publish()
    assert (done.uploads, done.copies) == (0 if lost == "endpoint" else 1, 1)
    assert bucket.body(file) == b"x = 1\n"
    assert bucket.publish() == PublishResult(present=1)


def test_without_the_bucket_it_says_what_makes_it(bucket: ArtifactBucket, folder: FleetFolder) -> None:
    bucket.single()
    folder.environment(name="prod")
    bucket.lock()
    folder.write("environments/dev.yaml", "environment: dev\naccount: '444455556666'\nregion: us-east-1\n")
    with pytest.raises(
        CannotRunError, match="triton-fleet-dev-444455556666-us-east-1 does not exist"
    ) as error:
        bucket.publish()
    assert error.value.remedy == "run `fleet deploy --env dev --foundation` to create it"
