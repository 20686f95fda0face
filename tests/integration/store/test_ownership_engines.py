"""A plan of the bucket is packed for whoever has its ONNX model, not for whoever names its digest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.codebuild_stand_in import StandInCodeBuild
from tests.support.engine_bucket import EngineBucket, empty_engine_bucket, small_onnx
from tests.support.fleet_folder import FleetFolder
from triton_fleet.builds.engines.artifacts import archive_digest
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.store.lock import write_lock


@pytest.fixture
def victim(aws_url: str, folder: FleetFolder) -> EngineBucket:
    """A published endpoint with an engine, beside which one of another ONNX model is locked."""
    bucket = empty_engine_bucket(aws_url, folder)
    stand_in = StandInCodeBuild(bucket.artifacts.s3)
    bucket.clients = replace(bucket.clients, codebuild=stand_in, logs=stand_in)
    bucket.endpoint("victim", model=small_onnx("secret"))
    bucket.publish()
    bucket.endpoint("thief", model=small_onnx("own"))
    return bucket


def assert_refusal(bucket: EngineBucket, message: str) -> None:
    number = len(bucket.clients.codebuild.starts)
    with pytest.raises(FindingsError, match=message) as error_info:
        bucket.publish()
    assert [finding.code for finding in error_info.value.findings] == ["FL847"]
    assert len(bucket.clients.codebuild.starts) == number
    assert (
        bucket.artifacts.object_keys("endpoints/thief/")
        == bucket.artifacts.object_keys("owners/thief/")
        == []
    )


def forge(bucket: EngineBucket, *, digest: bool) -> None:
    """Write the victim's ONNX digest into the lock, with the key that follows; and the archive's digest."""
    files = {name: bucket.artifacts.project.lock_file(name) for name in ("victim", "thief")}
    stolen = load_lock(files["victim"]).archives["victim"].engines["bert"]
    lock = load_lock(files["thief"])
    own = lock.archives["thief"]
    assert own.repository is not None
    changes: dict[str, object] = {"engines": {"bert": stolen}}
    if digest:
        changes["digest"] = archive_digest(own.repository, {"bert": stolen.key})
    archive = own.model_copy(update=changes)
    write_lock(
        files["thief"], lock.model_copy(update={"archives": {"thief": archive}}), files["thief"].parents[2]
    )


def test_the_onnx_digest_of_another_endpoint_in_a_lock_gets_no_plan_of_it(victim: EngineBucket) -> None:
    forge(victim, digest=True)
    assert_refusal(victim, "thief.yaml:8:9: error FL847: .* the ONNX model of 'bert' here has sha256")


def test_nor_where_the_plan_is_gone_and_would_be_built_of_its_onnx_model(victim: EngineBucket) -> None:
    for key in victim.artifacts.object_keys("engines/plans/"):
        victim.artifacts.s3.delete_object(Bucket=victim.artifacts.endpoints[0].deployment.bucket, Key=key)
    forge(victim, digest=True)
    assert_refusal(victim, "the ONNX model of 'bert' here has sha256")


def test_an_archive_that_the_endpoint_had_does_not_stand_for_other_engines(victim: EngineBucket) -> None:
    victim.publish()
    bucket = victim.artifacts
    for key in (*bucket.object_keys("endpoints/thief/"), *bucket.object_keys("archives/")):
        bucket.s3.delete_object(Bucket=bucket.endpoints[0].deployment.bucket, Key=key)
    forge(victim, digest=False)
    with pytest.raises(FindingsError, match="FL847: .* do not lead to that digest"):
        victim.publish()
    assert bucket.object_keys("endpoints/thief/") == []


def test_equal_onnx_models_share_their_plan(victim: EngineBucket) -> None:
    victim.endpoint("thief", model=small_onnx("secret"))
    result = victim.publish()
    assert (result.engines, result.copies) == (0, 1)


def test_what_the_endpoint_had_needs_no_onnx_model(victim: EngineBucket) -> None:
    victim.publish()
    bucket = victim.artifacts
    for key in bucket.object_keys("endpoints/"):
        bucket.s3.delete_object(Bucket=bucket.endpoints[0].deployment.bucket, Key=key)
    for file in (victim.root / "onnx").iterdir():
        file.unlink()
    assert victim.publish().copies == 2
