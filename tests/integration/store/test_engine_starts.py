"""How many builds a publish starts, with what, and what it says where CodeBuild starts none."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from tests.support.codebuild_stand_in import StandInCodeBuild, refusal
from tests.support.engine_bucket import EngineBucket, empty_engine_bucket, small_onnx
from tests.support.fleet_folder import ROOT, FleetFolder
from triton_fleet.findings import FindingsError
from triton_fleet.store.builds.work import Pace

ZERO_QUOTA_MESSAGE = "Cannot have more than 0 builds in queue for the account"


@pytest.fixture
def codebuild(bucket: EngineBucket) -> StandInCodeBuild:
    stand_in = StandInCodeBuild(bucket.artifacts.s3)
    bucket.clients = replace(bucket.clients, codebuild=stand_in, logs=stand_in)
    return stand_in


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder) -> EngineBucket:
    bucket = empty_engine_bucket(aws_url, folder)
    folder.environment("engine_builds: {at_once: 2}\n")
    return bucket


def test_no_more_builds_are_under_way_than_the_environment_allows(
    bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    for name in ("one", "two", "three", "four"):
        bucket.endpoint(name, model=small_onnx(name))
    under_way: list[int] = []
    looks: dict[str, int] = {}

    def on_start() -> None:
        under_way.append(list(codebuild.status.values()).count("IN_PROGRESS"))

    def on_look(id: str) -> None:
        looks[id] = looks.get(id, 0) + 1
        if looks[id] == 3:
            codebuild.succeed(id)

    codebuild.after_start, codebuild.on_look = on_start, on_look
    assert bucket.publish().engines == 4
    assert max(under_way) <= 2


def test_an_account_without_quota_is_told_at_once_which_one_to_ask_for(
    bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    bucket.endpoint()
    bucket.endpoint("second", model=small_onnx("other"))
    codebuild.refusals = [refusal("AccountLimitExceededException", ZERO_QUOTA_MESSAGE)]
    with pytest.raises(FindingsError) as caught:
        bucket.publish()
    (finding,) = caught.value.findings
    assert (finding.code, finding.line) == ("FL379", 8)
    assert ZERO_QUOTA_MESSAGE in finding.message
    assert "'Concurrently running builds for Linux/Small environment'" in finding.hint
    assert list(codebuild.status.values()) == ["SUCCEEDED"], "the other engine is built"
    assert bucket.artifacts.object_keys("engines/leases/") == []


def test_a_start_that_is_refused_is_tried_again_more_and_more_rarely() -> None:
    pace = Pace()
    waits = list(islice(pace.waits(pace.renew), 12))
    assert waits[0] == pace.look
    assert waits == sorted(waits)
    assert waits[-1] == pace.renew < pace.lease, "the lease is renewed after each wait"


def test_a_build_is_told_the_buildspec_beside_its_source_and_for_which_endpoint_it_is(
    bucket: EngineBucket, codebuild: StandInCodeBuild
) -> None:
    bucket.endpoint()
    bucket.publish()
    (request,) = codebuild.starts
    assert request["sourceTypeOverride"] == "S3"
    assert request["buildspecOverride"] == (ROOT / "engine_build/job.buildspec.yaml").read_text()
    names = [entry["name"] for entry in request["environmentVariablesOverride"]]
    assert names == ["FLEET_ENGINE_REQUEST", "FLEET_ENGINE_ENDPOINT"]
    assert request["environmentVariablesOverride"][1]["value"] == "sentences"
