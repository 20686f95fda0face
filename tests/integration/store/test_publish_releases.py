"""Releases: what an endpoint ran, in the order of its deploys."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.artifact_bucket import BUCKET, ArtifactBucket, empty_bucket
from tests.support.fleet_folder import FleetFolder
from triton_fleet.awsapi.actor import Actor
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import FindingsError
from triton_fleet.selection.checkout import Checkout
from triton_fleet.spec.lock import Lock
from triton_fleet.store.release_history import lost_archives
from triton_fleet.store.releases import (
    TIME,
    ReleaseSource,
    last_releases,
    record_release,
    release_source,
    releases_prefix,
)


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder) -> ArtifactBucket:
    bucket = empty_bucket(aws_url, folder)
    release(bucket, "x = 1\n")
    return bucket


def release(bucket: ArtifactBucket, code: str, keys: str = "") -> str:
    """Record what the endpoint would run of this code; its model data."""
    bucket.single(code=code, keys=keys)
    bucket.lock()
    (endpoint,) = bucket.endpoints
    record_release(bucket.s3, endpoint)
    return endpoint.model_data


def test_a_release_says_what_the_endpoint_runs_and_since_when(bucket: ArtifactBucket) -> None:
    (key,) = bucket.object_keys("releases/")
    (endpoint,) = bucket.endpoints
    (archive,) = endpoint.archives
    assert json.loads(bucket.body(key)) == {
        "endpoint": "sentences",
        "time": key.removeprefix("releases/sentences/").replace(".000000Z.json", "Z"),  # by S3, in seconds
        "model_data": endpoint.model_data,
        "compression": "gzip",
        "archives": [{"key": archive.key, "digest": archive.digest}],
    }


def test_who_deployed_it_from_which_commit_is_recorded_and_read_again(bucket: ArtifactBucket) -> None:
    change_instance(bucket, "instance: {type: ml.g5.xlarge, count: 2}")
    source = source_of(bucket, "anna")
    record_release(bucket.s3, bucket.endpoints[0], source=source)
    newest, before = last_releases(bucket.s3, BUCKET, "sentences")
    assert (newest.source, before.source) == (source, None)
    assert newest.source is not None
    assert newest.source.spec["instance"] == {"type": "ml.g5.xlarge", "count": 2}
    assert Lock.model_validate_json(json.dumps(newest.source.lock)) == bucket.project.lock("sentences")


def test_a_spec_that_changed_is_a_release_and_who_deploys_the_same_again_is_none(
    bucket: ArtifactBucket,
) -> None:
    for name in ("anna", "ben"):
        record_release(bucket.s3, bucket.endpoints[0], source=source_of(bucket, name))
    assert len(bucket.object_keys("releases/")) == 2
    change_instance(bucket, "instance: {type: ml.g5.xlarge, count: 2}")
    record_release(bucket.s3, bucket.endpoints[0], source=source_of(bucket, "ben"))
    names = [
        release.source and release.source.actor.name
        for release in last_releases(bucket.s3, BUCKET, "sentences")
    ]
    assert names == ["user/ben", "user/anna", None]


def test_what_a_later_version_records_besides_is_passed_over(bucket: ArtifactBucket) -> None:
    record_release(bucket.s3, bucket.endpoints[0], source=source_of(bucket, "anna"))
    key = bucket.object_keys("releases/")[-1]
    record = json.loads(bucket.body(key))
    for part in (record, record["source"], record["source"]["actor"], record["archives"][0]):
        part["of_a_later_version"] = {}
    newest = last_releases(bucket.s3, BUCKET, "sentences")[0]
    bucket.put(key, json.dumps(record).encode())
    assert last_releases(bucket.s3, BUCKET, "sentences")[0] == newest


def test_archives_that_were_removed_are_known_to_be_lost(bucket: ArtifactBucket) -> None:
    release(bucket, "x = 2\n")
    bucket.publish()
    newest, before = last_releases(bucket.s3, BUCKET, "sentences")
    assert lost_archives(bucket.s3, BUCKET, [newest, before]) == {before.archives[0].digest}


def change_instance(bucket: ArtifactBucket, instance: str) -> None:
    """Write another instance into the spec."""
    file = bucket.folder.root / "model_specs/sentences.yaml"
    file.write_text(file.read_text().replace("instance: {type: ml.g5.xlarge}", instance))


def source_of(bucket: ArtifactBucket, name: str) -> ReleaseSource:
    actor = Actor(arn=f"arn:aws:iam::111122223333:user/{name}")
    return release_source(bucket.project, "sentences", actor, Checkout(commit="c" * 40))


def test_what_did_not_change_is_no_release(bucket: ArtifactBucket) -> None:
    release(bucket, "x = 1\n")
    assert len(bucket.object_keys("releases/")) == 1


def test_the_same_content_in_another_form_is_a_release(bucket: ArtifactBucket) -> None:
    release(bucket, "x = 1\n", ", compression: none")
    newest, before = last_releases(bucket.s3, BUCKET, "sentences", 10)
    assert newest.archives[0].digest == before.archives[0].digest
    assert (newest.compression, before.compression) == ("none", "gzip")


def test_a_rollback_is_a_release_and_the_newest_comes_first(bucket: ArtifactBucket) -> None:
    ran = [bucket.endpoints[0].model_data, release(bucket, "x = 2\n"), release(bucket, "x = 1\n")]
    releases = last_releases(bucket.s3, BUCKET, "sentences", 10)
    assert [release.model_data for release in releases] == ran[::-1]
    assert [release.time for release in releases] == sorted(
        (release.time for release in releases), reverse=True
    )
    assert ran[0] == ran[2]


@pytest.mark.parametrize(("count", "number"), [(0, 0), (1, 1), (2, 2), (9, 2)])
def test_as_many_are_read_as_are_asked_for(bucket: ArtifactBucket, count: int, number: int) -> None:
    release(bucket, "x = 2\n")
    bucket.requests.clear()
    assert len(last_releases(bucket.s3, BUCKET, "sentences", count)) == number
    assert bucket.requests.count("GetObject") == number


@pytest.mark.parametrize("name", ["notes.txt", "zzz.json", "2027-01-01T00:00:00Z.json", "9/x.json"])
def test_what_is_no_release_by_its_name_is_passed_over(bucket: ArtifactBucket, name: str) -> None:
    bucket.put(f"releases/sentences/{name}", b"not JSON")
    assert len(last_releases(bucket.s3, BUCKET, "sentences", 10)) == 1


def test_endpoints_whose_names_begin_alike_have_their_own(bucket: ArtifactBucket) -> None:
    assert last_releases(bucket.s3, BUCKET, "sent", 10) == []


def test_a_release_that_cannot_be_read_is_named_and_stops_no_deploy(bucket: ArtifactBucket) -> None:
    broken_text = bucket.put("releases/sentences/9999-01-01T00:00:00.000000Z.json", b"{")
    with pytest.raises(FindingsError, match=f"FL325: s3://{BUCKET}/{broken_text} is not a valid release"):
        last_releases(bucket.s3, BUCKET, "sentences", 1)
    release(bucket, "x = 2\n")
    assert len(bucket.object_keys("releases/")) == 3


def test_deploys_of_two_clones_at_one_moment_are_two_releases(bucket: ArtifactBucket) -> None:
    (key,) = bucket.object_keys("releases/")
    ahead = datetime.now(UTC) + timedelta(days=365)
    both_follow = f"{releases_prefix('sentences')}{ahead.strftime(TIME)}.json"
    bucket.s3.copy_object(Bucket=BUCKET, Key=both_follow, CopySource={"Bucket": BUCKET, "Key": key})
    endpoints = list[ResolvedEndpoint]()
    for number in (2, 3):
        bucket.single(code=f"x = {number}\n")
        bucket.lock()
        endpoints += bucket.endpoints
    mine, theirs = endpoints
    events, name = bucket.s3.meta.events, "before-call.s3.PutObject"

    def deploy_theirs(**_: object) -> None:
        events.unregister(name, deploy_theirs)
        record_release(bucket.s3, theirs)

    events.register(name, deploy_theirs)
    record_release(bucket.s3, mine)
    model_data = [release.model_data for release in last_releases(bucket.s3, BUCKET, "sentences", 2)]
    assert model_data == [mine.model_data, theirs.model_data]
