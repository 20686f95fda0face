"""A locked archive reaches the bucket once, and only as the lock says."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.support.artifact_bucket import BUCKET, ArtifactBucket, digest_of_bytes
from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.store.publish.publish import PublishResult

SIZE = 10240
"""Of the tar stream of one small archive."""


def test_the_model_data_is_the_tar_stream_that_the_lock_digests(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.single()
    artifact_bucket.lock()
    assert artifact_bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=1, present=0)
    (endpoint,) = artifact_bucket.endpoints
    stream = gzip.decompress(artifact_bucket.body(endpoint.model_data))
    assert digest_of_bytes(stream) == endpoint.archives[0].digest


def test_it_is_kept_in_the_store_and_in_the_endpoints_prefix(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.single()
    artifact_bucket.lock()
    artifact_bucket.publish()
    name = artifact_bucket.endpoints[0].archives[0].digest.removeprefix("sha256:")
    assert artifact_bucket.object_keys() == [
        f"archives/{name}.tar.gz",
        f"endpoints/sentences/{name}.tar.gz",
        f"owners/sentences/{name}",
    ]


def test_what_is_there_is_known_from_listings_alone(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.single()
    artifact_bucket.set_of({f"a{number}": f"x = {number}\n" for number in range(20)})
    artifact_bucket.lock()
    assert artifact_bucket.publish() == PublishResult(uploads=21, bytes=21 * SIZE, copies=21, present=0)
    artifact_bucket.requests.clear()
    assert artifact_bucket.publish() == PublishResult(present=21)
    assert artifact_bucket.requests == ["ListObjectsV2"] * 2


def test_what_is_published_needs_no_repository_any_more(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.single()
    artifact_bucket.lock()
    artifact_bucket.publish()
    (folder.root / "sentences").rename(folder.root / "elsewhere")
    assert artifact_bucket.publish() == PublishResult(present=1)


def test_a_changed_set_is_a_new_prefix_of_which_only_the_change_is_uploaded(
    artifact_bucket: ArtifactBucket,
) -> None:
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 2\n", "c": "x = 3\n"})
    artifact_bucket.lock()
    artifact_bucket.publish()
    before = artifact_bucket.endpoints[0].model_data
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 4\n", "c": "x = 3\n"})
    artifact_bucket.lock()
    assert artifact_bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=3, present=0)
    after = artifact_bucket.endpoints[0].model_data
    assert before != after
    names = ["a.tar.gz", "b.tar.gz", "c.tar.gz"]
    assert artifact_bucket.object_keys("endpoints/") == sorted(
        [before + name for name in names] + [after + name for name in names]
    )


def test_contents_that_are_equal_are_uploaded_once(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 1\n"})
    artifact_bucket.set_of({"c": "x = 1\n"}, "other")
    artifact_bucket.lock()
    assert artifact_bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=3, present=0)
    assert len(artifact_bucket.object_keys("archives/")) == 1


def test_of_equal_contents_of_an_endpoint_any_repository_that_still_has_it_will_do(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 1\n"})
    artifact_bucket.lock()
    folder.write("zoo/a/model/1/model.py", "x = 2\n")
    assert artifact_bucket.publish().uploads == 1


class Interruption(BaseException):
    """An error that stands for a KeyboardInterrupt in the code under test."""


@pytest.mark.parametrize("operation", ["CopyObject", "ListObjectsV2"])
def test_a_run_that_was_interrupted_is_gone_on_with_by_the_next(
    artifact_bucket: ArtifactBucket, operation: str
) -> None:
    def interrupt(**_: object) -> None:
        raise Interruption

    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 2\n"})
    artifact_bucket.lock()
    event = f"before-call.s3.{operation}"
    artifact_bucket.s3.meta.events.register(event, interrupt)
    with pytest.raises(Interruption):
        artifact_bucket.publish()
    artifact_bucket.s3.meta.events.unregister(event, interrupt)
    number = len(artifact_bucket.object_keys("archives/"))
    assert artifact_bucket.publish() == PublishResult(
        uploads=2 - number, bytes=(2 - number) * SIZE, copies=2, present=0
    )
    assert artifact_bucket.publish() == PublishResult(present=2)


def test_a_repository_that_changed_since_the_lock_is_refused_by_its_archive_and_line(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.single()
    artifact_bucket.lock()
    folder.write("sentences/embed/1/model.py", "x = 2\n")
    with pytest.raises(FindingsError) as refusal:
        artifact_bucket.publish()
    (finding,) = refusal.value.findings
    assert (finding.code, finding.file, finding.line) == (
        "FL303",
        folder.root / "model_specs/sentences.yaml",
        5,
    )
    assert finding.message == (
        "the repository of archive 'sentences' changed since the lock of 'sentences' was written"
    )
    assert finding.hint == "run `fleet lock --env dev sentences` and have the change reviewed"
    assert artifact_bucket.object_keys() == []


def test_a_promoted_lock_is_not_to_be_written_anew(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.single()
    artifact_bucket.lock()
    folder.environment(name="staging")
    lock = folder.root / "locks/dev/sentences.lock.yaml"
    lock.write_text(lock.read_text().replace("archives:", "promoted_from: staging\narchives:"))
    folder.write("sentences/embed/1/model.py", "x = 2\n")
    with pytest.raises(FindingsError, match="which was promoted from 'staging'") as refusal:
        artifact_bucket.publish()
    assert "`fleet promote --from staging --to dev sentences`" in refusal.value.findings[0].hint


def test_all_refusals_are_told_together_and_everything_else_is_published(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 2\n", "c": "x = 3\n"})
    artifact_bucket.single()
    artifact_bucket.lock()
    folder.write("zoo/a/model/1/model.py", "x = 9\n")
    folder.write("sentences/embed/1/model.py", "x = 9\n")
    with pytest.raises(FindingsError) as refusal:
        artifact_bucket.publish()
    assert [finding.code for finding in refusal.value.findings] == ["FL303", "FL303"]
    model_data = artifact_bucket.endpoints[1].model_data
    assert artifact_bucket.object_keys("endpoints/") == [f"{model_data}b.tar.gz", f"{model_data}c.tar.gz"]


def test_a_version_of_a_live_set_that_is_published_already_is_left_alone(
    artifact_bucket: ArtifactBucket,
) -> None:
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 2\n"}, version=1)
    artifact_bucket.lock()
    assert artifact_bucket.publish().copies == 2
    artifact_bucket.requests.clear()
    assert artifact_bucket.publish() == PublishResult(present=2)
    assert sorted(artifact_bucket.requests) == ["HeadObject", "HeadObject", "ListObjectsV2"]


def test_a_published_version_of_a_live_set_is_never_overwritten(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.set_of({"a": "x = 1\n", "b": "x = 2\n"}, version=1)
    artifact_bucket.lock()
    artifact_bucket.publish()
    before = artifact_bucket.body("endpoints/zoo/live/a-v1.tar.gz")
    artifact_bucket.set_of({"a": "x = 3\n", "b": "x = 2\n", "c": "x = 4\n"}, version=1)
    artifact_bucket.lock()
    with pytest.raises(FindingsError, match="FL304: s3://.*/live/a-v1.tar.gz has other content") as refusal:
        artifact_bucket.publish()
    assert [finding.hint for finding in refusal.value.findings] == ["raise the `version` of archive 'a'"]
    assert artifact_bucket.body("endpoints/zoo/live/a-v1.tar.gz") == before
    assert "endpoints/zoo/live/c-v1.tar.gz" in artifact_bucket.object_keys()


def test_of_two_publishers_of_one_live_name_one_is_refused(
    artifact_bucket: ArtifactBucket, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = FleetFolder(tmp_path_factory.mktemp("other"))
    other_bucket = ArtifactBucket(
        elsewhere, artifact_bucket.s3, artifact_bucket.sagemaker, artifact_bucket.ecr
    )
    other_bucket.folder.environment()
    for item, code in ((artifact_bucket, "x = 1\n"), (other_bucket, "x = 2\n")):
        item.set_of({"a": code}, version=1)
        item.lock()

    def publish_second(**_: Any) -> None:
        artifact_bucket.s3.meta.events.unregister(event, publish_second)
        other_bucket.publish()

    event = "before-call.s3.CopyObject"
    artifact_bucket.s3.meta.events.register(event, publish_second)
    with pytest.raises(FindingsError, match="FL304"):
        artifact_bucket.publish()
    stream = gzip.decompress(artifact_bucket.body("endpoints/zoo/live/a-v1.tar.gz"))
    assert digest_of_bytes(stream) == other_bucket.endpoints[0].archives[0].digest


def test_what_was_put_into_the_store_by_hand_is_known_again_once_it_is_published(
    artifact_bucket: ArtifactBucket,
) -> None:
    artifact_bucket.set_of({"a": "x = 1\n"})
    artifact_bucket.lock()
    artifact_bucket.publish()
    (stored_line,) = artifact_bucket.object_keys("archives/")
    artifact_bucket.put(stored_line, artifact_bucket.body(stored_line))
    artifact_bucket.set_of({"b": "x = 1\n"}, "live", version=1)
    artifact_bucket.lock()
    assert artifact_bucket.publish() == PublishResult(copies=1, present=1)
    assert artifact_bucket.publish() == PublishResult(present=2)


def test_files_that_are_not_compressed_are_published_as_they_are(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.single(keys=", compression: none")
    folder.write("sentences/embed/1/été modèle.bin", "weights")
    folder.write("sentences/embed/1/empty.py", "")
    artifact_bucket.lock()
    assert artifact_bucket.publish() == PublishResult(uploads=1, bytes=SIZE, copies=1, present=0)
    home = artifact_bucket.endpoints[0].model_data
    files = {
        key.removeprefix(home): artifact_bucket.body(key)
        for key in artifact_bucket.object_keys(home)
        if not key.endswith("/")
    }
    assert files == {
        "embed/config.pbtxt": b'backend: "python"\n',
        "embed/1/empty.py": b"",
        "embed/1/model.py": b"x = 1\n",
        "embed/1/été modèle.bin": b"weights",
    }
    assert artifact_bucket.publish() == PublishResult(present=1)


@pytest.mark.parametrize("lost_text", ["endpoint", "marker"])
def test_files_that_are_not_all_there_are_made_whole(artifact_bucket: ArtifactBucket, lost_text: str) -> None:
    artifact_bucket.single(keys=", compression: none")
    artifact_bucket.lock()
    artifact_bucket.publish()
    file = f"{artifact_bucket.endpoints[0].model_data}embed/1/model.py"
    marker = next(key for key in artifact_bucket.object_keys() if key.endswith(".files"))
    artifact_bucket.s3.delete_object(Bucket=BUCKET, Key=file if lost_text == "endpoint" else marker)
    result = artifact_bucket.publish()
    assert (result.uploads, result.copies) == (0 if lost_text == "endpoint" else 1, 1)
    assert artifact_bucket.body(file) == b"x = 1\n"
    assert artifact_bucket.publish() == PublishResult(present=1)


def test_without_the_bucket_it_says_what_makes_it(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    artifact_bucket.single()
    folder.environment(name="prod")
    artifact_bucket.lock()
    folder.write("environments/dev.yaml", "environment: dev\naccount: '444455556666'\nregion: us-east-1\n")
    with pytest.raises(
        CannotRunError, match="triton-fleet-dev-444455556666-us-east-1 does not exist"
    ) as error:
        artifact_bucket.publish()
    assert error.value.remedy == "run `fleet deploy --env dev --foundation` to create it"
