"""Of all publishers one builds an engine, and another takes over what it left."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from tests.support.artifact_bucket import BUCKET
from tests.support.codebuild_stand_in import StandInCodeBuild, refusal
from tests.support.engine_bucket import PROJECT, EngineBucket, empty_engine_bucket, small_onnx
from tests.support.fleet_folder import FleetFolder
from tests.support.silent_progress import SilentProgress
from triton_fleet.builds.engines.artifacts import lease_key
from triton_fleet.findings import CannotRunError, FindingsError

LONG, NO_SECONDS = 300, 0
"""Seconds that leases hold."""
OTHER_BUILD = f"{PROJECT}:1"


class Publisher:
    """A publish of one endpoint, and the CodeBuild that it asks."""

    def __init__(self, bucket: EngineBucket) -> None:
        self.bucket, s3 = bucket, bucket.artifacts.s3
        self.codebuild = StandInCodeBuild(s3)
        bucket.clients = replace(bucket.clients, codebuild=self.codebuild, logs=self.codebuild)
        bucket.endpoint()
        self.lease = lease_key(bucket.key())

    def other_has(self, *, seconds: int, status: str = "") -> None:
        """Another publisher has the lease, perhaps with a build."""
        build = ""
        if status:
            request = {"name": "any", "value": f"s3://{BUCKET}/engines/plans/{self.hex}/request.json"}
            self.codebuild.starts.append({"environmentVariablesOverride": [request]})
            self.codebuild.status[OTHER_BUILD] = status
            build = OTHER_BUILD
        lease = {"holder": "somebody", "token": "t", "seconds": seconds, "build": build}
        self.bucket.artifacts.put(self.lease, json.dumps(lease).encode())

    @property
    def hex(self) -> str:
        return self.bucket.key().removeprefix("sha256:")

    def later(self, action: Callable[[str], None]) -> None:
        """At the first look a build is under way, at the second one this happens."""

        def first(_id: str) -> None:
            self.codebuild.on_look = action

        self.codebuild.on_look = first

    @property
    def own_builds(self) -> list[dict[str, Any]]:
        return [item for item in self.codebuild.starts if "projectName" in item]

    def is_leased(self) -> bool:
        return self.bucket.artifacts.object_keys("engines/leases/") != []


@pytest.fixture
def publisher(aws_url: str, folder: FleetFolder) -> Publisher:
    return Publisher(empty_engine_bucket(aws_url, folder))


def test_the_lease_says_who_builds_until_the_build_is_over(publisher: Publisher) -> None:
    records: list[dict[str, Any]] = []

    def on_look(id: str) -> None:
        records.append(json.loads(publisher.bucket.artifacts.body(publisher.lease)))
        publisher.codebuild.succeed(id)

    publisher.codebuild.on_look = on_look
    assert publisher.bucket.publish().engines == 1
    (lease,) = records
    assert (lease["build"], lease["seconds"]) == (OTHER_BUILD, LONG)
    assert not publisher.is_leased()


def test_a_build_of_another_publisher_is_followed(publisher: Publisher) -> None:
    publisher.other_has(seconds=LONG, status="IN_PROGRESS")
    result = publisher.bucket.publish()
    assert (result.engines, result.uploads, publisher.own_builds) == (0, 1, [])
    assert publisher.is_leased()


def test_a_failure_of_a_build_that_is_followed_is_told(publisher: Publisher) -> None:
    publisher.other_has(seconds=LONG, status="IN_PROGRESS")
    publisher.later(publisher.codebuild.fail)
    with pytest.raises(FindingsError, match="FL381"):
        publisher.bucket.publish()
    assert publisher.own_builds == []


def test_when_a_build_that_is_followed_is_stopped_another_is_started(publisher: Publisher) -> None:
    publisher.other_has(seconds=LONG, status="IN_PROGRESS")

    def stop_build(id: str) -> None:
        publisher.codebuild.status[id] = "STOPPED"
        publisher.codebuild.on_look = None
        publisher.bucket.artifacts.s3.delete_object(Bucket=BUCKET, Key=publisher.lease)

    publisher.later(stop_build)
    assert publisher.bucket.publish().engines == 1
    assert len(publisher.own_builds) == 1


@pytest.mark.parametrize("status", ["", "FAILED", "IN_PROGRESS"])
def test_an_expired_lease_is_taken_over_with_what_still_runs(publisher: Publisher, status: str) -> None:
    publisher.other_has(seconds=NO_SECONDS, status=status)
    publisher.later(publisher.codebuild.succeed)
    runs = status == "IN_PROGRESS"
    result = publisher.bucket.publish()
    assert (result.engines, len(publisher.own_builds)) == ((0, 0) if runs else (1, 1))
    assert not publisher.is_leased()


def test_a_lease_whose_build_is_over_without_an_engine_is_taken_over(publisher: Publisher) -> None:
    publisher.other_has(seconds=LONG, status="FAILED")
    assert publisher.bucket.publish().engines == 1
    assert not publisher.is_leased()


def test_a_holder_that_is_about_to_start_is_waited_for(publisher: Publisher) -> None:
    publisher.other_has(seconds=LONG)
    lines: list[str] = []

    class Progress(SilentProgress):
        def build(self, name: str) -> Any:
            def tell(message: str) -> None:
                lines.append(message)
                publisher.codebuild.leave(f"engines/plans/{publisher.hex}/")

            return nullcontext(tell)

    assert publisher.bucket.publish(Progress()).engines == 0
    (line,) = lines
    assert re.fullmatch(r"somebody is starting the build; if that was killed, this one starts in \d+ s", line)
    assert publisher.own_builds == []


def test_who_has_lost_the_lease_stops_nothing_and_follows(publisher: Publisher) -> None:
    def lose_lease(id: str) -> None:
        publisher.other_has(seconds=LONG, status="IN_PROGRESS")
        publisher.codebuild.on_look = None

    publisher.codebuild.on_look = lose_lease
    pace = replace(publisher.bucket.pace, renew=0)
    assert publisher.bucket.publish(pace=pace).uploads == 1
    assert "STOPPED" not in publisher.codebuild.status.values()
    assert publisher.is_leased()


def test_an_interrupted_publish_stops_its_builds_and_gives_up_their_leases(publisher: Publisher) -> None:
    publisher.bucket.endpoint("second", model=small_onnx("other"))
    ids: list[str] = []

    def on_look(id: str) -> None:
        ids.append(id)
        if len(set(ids)) == 2:  # both are under way
            publisher.codebuild.on_look = lambda _id: None
            raise KeyboardInterrupt

    publisher.codebuild.on_look = on_look
    with pytest.raises(KeyboardInterrupt):
        publisher.bucket.publish()
    assert sorted(publisher.codebuild.status.values()) == ["IN_PROGRESS", "STOPPED"]
    assert not publisher.is_leased()
    publisher.codebuild.on_look = None
    assert publisher.bucket.publish().uploads == 2


def test_a_build_goes_on_where_aws_stops_answering_and_the_next_publish_follows_it(
    publisher: Publisher,
) -> None:
    def refuse(_id: str) -> None:
        raise refusal("ExpiredTokenException")

    publisher.codebuild.on_look = refuse
    with pytest.raises(CannotRunError, match="ExpiredToken"):
        publisher.bucket.publish()
    assert publisher.is_leased()
    publisher.codebuild.on_look = None
    result = publisher.bucket.publish()
    assert (result.engines, result.uploads, len(publisher.own_builds)) == (0, 1, 1)


def test_throttling_is_outwaited(publisher: Publisher) -> None:
    answers = [refusal("ThrottlingException")] * 3

    def throttle(id: str) -> None:
        if answers:
            raise answers.pop()
        publisher.codebuild.succeed(id)

    publisher.codebuild.refusals = [refusal("ThrottlingException"), refusal("AccountLimitExceededException")]
    publisher.codebuild.on_look = throttle
    assert publisher.bucket.publish().engines == 1


def test_an_account_that_starts_no_build_for_long_is_told_so(publisher: Publisher) -> None:
    publisher.codebuild.refusals = [refusal("AccountLimitExceededException", "not more than 1 builds")] * 2
    pace = replace(publisher.bucket.pace, limit=0)
    with pytest.raises(CannotRunError, match="not more than 1 builds"):
        publisher.bucket.publish(pace=pace)
    assert not publisher.is_leased()


def test_without_the_projects_it_is_said_what_makes_them(publisher: Publisher) -> None:
    publisher.codebuild.refusals = [refusal("ResourceNotFoundException")]
    with pytest.raises(CannotRunError) as caught:
        publisher.bucket.publish()
    assert f"the CodeBuild project {PROJECT} does not exist" in str(caught.value)
    assert not publisher.is_leased()
