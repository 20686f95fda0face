"""Publishers whom S3 and CodeBuild do not answer as they should, and who wait for each other's builds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.support.artifact_bucket import BUCKET
from tests.support.codebuild_stand_in import StandInCodeBuild, refusal
from tests.support.engine_bucket import EngineBucket, empty_engine_bucket, small_onnx
from tests.support.fleet_folder import FleetFolder
from triton_fleet.builds.engines.artifacts import MANIFEST, built_key, lease_key
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.store.builds.codebuild import Build, BuildClients, BuildLog
from triton_fleet.store.builds.lease import Lease, Terms

OTHER_LEASE = b'{"holder": "somebody", "token": "t", "seconds": 0, "build": ""}'


@dataclass
class FlakyS3:
    """S3, whose write number `number` of a lease is answered by `refusal`, after it was done or not at all."""

    s3: Any
    number: int
    refusal: Exception
    is_done: bool
    writes: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.s3, name)

    def put_object(self, **request: Any) -> Any:
        if not request["Key"].startswith("engines/leases/"):
            return self.s3.put_object(**request)
        self.writes += 1
        if self.writes != self.number:
            return self.s3.put_object(**request)
        if self.is_done:
            self.s3.put_object(**request)
        raise self.refusal


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder) -> EngineBucket:
    bucket = empty_engine_bucket(aws_url, folder)
    codebuild = StandInCodeBuild(bucket.artifacts.s3)
    bucket.clients = replace(bucket.clients, codebuild=codebuild, logs=codebuild)
    bucket.endpoint()
    return bucket


def test_an_object_that_is_no_lease_is_named_with_a_remedy(bucket: EngineBucket) -> None:
    s3 = bucket.artifacts.s3
    s3.put_object(Bucket=BUCKET, Key="engines/leases/x", Body=b'{"holder": 1}')
    lease = Lease(s3, BUCKET, "engines/leases/x", Terms(holder="a", token="t", seconds=9))
    with pytest.raises(CannotRunError, match="engines/leases/x is not a lease: .*\n.*delete it"):
        lease.current()


def with_s3(bucket: EngineBucket, s3: Any) -> BuildClients:
    return replace(bucket.clients, s3=s3)


def later(codebuild: StandInCodeBuild, looks: int) -> Callable[[str], None]:
    """A build is under way at so many looks, then it succeeds."""
    remaining_looks = [None] * looks

    def on_look(id: str) -> None:
        if remaining_looks:
            remaining_looks.pop()
        else:
            codebuild.succeed(id)

    return on_look


@pytest.mark.parametrize("number", [1, 2, 3], ids=["taken", "with its build", "renewed"])
def test_a_lease_whose_answer_was_lost_is_known_again(bucket: EngineBucket, number: int) -> None:
    """botocore asks again, and S3 answers that the condition does not hold any more."""
    codebuild = bucket.clients.codebuild
    codebuild.on_look = later(codebuild, 3)
    lost_3 = FlakyS3(bucket.artifacts.s3, number, refusal("PreconditionFailed", status=412), is_done=True)
    bucket.clients = with_s3(bucket, lost_3)
    assert bucket.publish(pace=replace(bucket.pace, renew=0)).engines == 1
    assert list(codebuild.status.values()) == ["SUCCEEDED"]
    assert bucket.artifacts.object_keys("engines/leases/") == []


def test_a_build_that_no_lease_could_be_told_of_is_stopped(bucket: EngineBucket) -> None:
    codebuild = bucket.clients.codebuild
    down = FlakyS3(bucket.artifacts.s3, 2, refusal("ServiceUnavailable", status=503), is_done=False)
    bucket.clients = with_s3(bucket, down)
    with pytest.raises(CannotRunError, match="ServiceUnavailable"):
        bucket.publish()
    assert list(codebuild.status.values()) == ["STOPPED"]
    assert bucket.artifacts.object_keys("engines/leases/") == []


def test_who_loses_the_lease_while_a_build_starts_stops_it_and_starts_another_later(
    bucket: EngineBucket,
) -> None:
    codebuild, lease = bucket.clients.codebuild, lease_key(bucket.key())

    def lose_lease() -> None:
        codebuild.after_start = None
        bucket.artifacts.put(lease, OTHER_LEASE)

    codebuild.after_start = lose_lease
    assert bucket.publish().engines == 1
    assert list(codebuild.status.values()) == ["STOPPED", "SUCCEEDED"]
    first, second = (entry["idempotencyToken"] for entry in codebuild.starts)
    assert first != second


def test_a_plan_is_taken_although_the_lease_cannot_be_given_up(bucket: EngineBucket) -> None:
    class LeaseHolder(FlakyS3):
        def delete_object(self, **request: Any) -> Any:
            if request["Key"].startswith("engines/leases/"):
                raise self.refusal
            return self.s3.delete_object(**request)

    kept_value = LeaseHolder(bucket.artifacts.s3, 0, refusal("AccessDenied", status=403), is_done=False)
    bucket.clients = with_s3(bucket, kept_value)
    assert bucket.publish().engines == 1


def test_own_builds_are_waited_for_however_long_they_take(bucket: EngineBucket) -> None:
    bucket.endpoint("second", model=small_onnx("other"))
    codebuild = bucket.clients.codebuild
    codebuild.max_builds, codebuild.on_look = 1, later(codebuild, 10)
    assert bucket.publish(pace=replace(bucket.pace, limit=0.2)).engines == 2
    assert list(codebuild.status.values()) == ["SUCCEEDED", "SUCCEEDED"]


def test_a_codebuild_that_fails_for_a_moment_is_asked_again(bucket: EngineBucket) -> None:
    answers = [refusal("InternalFailure", status=500)] * 3
    codebuild = bucket.clients.codebuild

    def on_look(id: str) -> None:
        if answers:
            raise answers.pop()
        codebuild.succeed(id)

    codebuild.on_look = on_look
    assert bucket.publish().engines == 1


def test_what_another_attempt_said_of_its_failure_is_not_told_of_this_one(bucket: EngineBucket) -> None:
    codebuild = bucket.clients.codebuild
    codebuild.on_look = lambda id: codebuild.fail(
        id, exit_code=21, problem="cancelled", message="Long ago.", by="triton-fleet-dev-engines-job:0"
    )
    with pytest.raises(FindingsError, match=r"FL381: .*ended with the status"):
        bucket.publish()
    codebuild.on_look = lambda id: codebuild.fail(id, exit_code=16, problem="p", message="Full.", by=id)
    with pytest.raises(FindingsError, match=r"FL377: .*Full\."):
        bucket.publish()


def test_a_manifest_without_its_plan_is_told_as_what_is_to_be_deleted(bucket: EngineBucket) -> None:
    codebuild, manifest = bucket.clients.codebuild, built_key(bucket.key(), MANIFEST)
    bucket.artifacts.put(manifest)
    codebuild.on_look = lambda id: codebuild.status.update({id: "SUCCEEDED"})
    with pytest.raises(FindingsError) as caught:
        bucket.publish()
    (finding,) = caught.value.findings
    assert finding.code == "FL381"
    assert f"/{manifest}" in finding.hint


class TwoStreams:
    """CloudWatch Logs, which takes no token of another stream."""

    def get_log_events(self, *, logStreamName: str, nextToken: str = "", **_: Any) -> dict[str, Any]:
        if nextToken and not nextToken.startswith(logStreamName):
            raise refusal("InvalidParameterException", "The specified nextToken is invalid.")
        events = [] if nextToken else [{"message": f"line of {logStreamName}"}]
        return {"events": events, "nextForwardToken": f"{logStreamName}/end"}


def test_the_log_of_another_build_is_read_from_its_beginning() -> None:
    log = BuildLog(TwoStreams())
    for stream in ("one", "two"):
        build = Build(id=stream, status="", phase="", reason="", log_group="any", log_stream=stream, link="")
        assert log.read(build) == f"line of {stream}"
        assert list(log.last) == [f"line of {stream}"]
