"""Foundation's projects for engines, in the embedded AWS: they build them, by way of a job too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.builds import Builds
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import JOB, ONNX, EngineStore
from tests.support.fleet_folder import ROOT
from tests.support.foundation_parts import foundation_parts
from tests.support.running_aws import running_aws
from triton_fleet.builds.engines.artifacts import script_key
from triton_fleet.builds.engines.request import EngineRequest
from triton_fleet.builds.script import build_script
from triton_fleet.repository.plan import HEADER
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import Environment

pytestmark = pytest.mark.nightly

DEPLOYMENT = Deployment.of(Environment(environment="dev", account="123456789012", region="us-east-1"))


@dataclass(frozen=True)
class Fleet:
    """A store, the projects of Foundation, and their logs."""

    deployment: Deployment
    store: EngineStore
    builds: Builds
    aws: EmbeddedAws

    def request(self, **changes: Any) -> EngineRequest:
        """A build by a job on a T4, with the role that Foundation has for jobs."""
        ssm = client(self.aws, "ssm")
        role = ssm.get_parameter(Name=self.deployment.engine_job_role)["Parameter"]["Value"]
        request = self.store.request(**({"gpu": "T4", "compute_capability": "7.5"} | changes))
        return replace(request, job=replace(JOB, instance_type="ml.g4dn.xlarge", role=role))

    def build(self, request: EngineRequest) -> dict[str, Any]:
        """A build as publishing starts it, when it is over."""
        report = {"FLEET_ENGINE_REQUEST": self.store.address(request), "FLEET_ENGINE_ENDPOINT": "sentences"}
        id = self.builds.start(
            self.deployment.build_project("job"),
            sourceTypeOverride="S3",
            sourceLocationOverride=f"{BUCKET}/{request.script}",
            buildspecOverride=(ROOT / "engine_build/job.buildspec.yaml").read_text(),
            environmentVariablesOverride=[{"name": name, "value": report[name]} for name in report],
        )
        return self.builds.final_build(id)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    ours = foundation_parts(DEPLOYMENT, tmp_path_factory.mktemp("cdk.out"), "EngineBuild", "AlarmTopics")
    with running_aws() as aws:
        s3 = client(aws, "s3")
        s3.create_bucket(Bucket=BUCKET)
        store = EngineStore(s3, aws.url, Path())
        content, digest = build_script()
        store.put(script_key(digest), content)
        assert Stacks(aws).create(DEPLOYMENT.stack, ours) == "CREATE_COMPLETE"
        assert aws.skipped_resources == ()
        yield Fleet(DEPLOYMENT, store, Builds(aws), aws)


def test_its_project_has_a_job_build_an_engine_on_the_instance_that_the_request_names(fleet: Fleet) -> None:
    request = fleet.request()
    build = fleet.build(request)
    assert build["buildStatus"] == "SUCCEEDED", fleet.builds.lines(build)
    values = fleet.store.json(request.manifest)
    assert values["gpu"]["name"] == "NVIDIA T4 (stand-in)"
    assert values["by"].startswith(f"engine-{request.key.removeprefix('sha256:')[:40]}-")
    assert fleet.store.body(request.plan)[HEADER:] == ONNX
    assert build["logs"]["groupName"] == fleet.deployment.engine_log_group
    assert any("trtexec (stand-in)" in line for line in fleet.builds.lines(build)), "the job's log is copied"


def test_a_build_that_asks_for_another_gpu_fails_and_says_so(fleet: Fleet) -> None:
    request = fleet.request(gpu="L4", compute_capability="8.9")
    build = fleet.build(request)
    assert build["buildStatus"] == "FAILED"
    values = fleet.store.json(request.failure)
    assert (values["exit_code"], values["by"]) == (11, build["id"])
    assert "wrong GPU: the engine is for an L4" in values["message"]
    assert not fleet.store.has(request.manifest)


def test_a_build_that_fails_is_told_to_the_topic_of_warnings(fleet: Fleet) -> None:
    ssm, sns, sqs = (client(fleet.aws, name) for name in ("ssm", "sns", "sqs"))
    topic = ssm.get_parameter(Name=fleet.deployment.alarm_topic("warning"))["Parameter"]["Value"]
    queue = sqs.create_queue(QueueName="warnings")["QueueUrl"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint="arn:aws:sqs:us-east-1:123456789012:warnings")
    request = fleet.request(gpu="L4", compute_capability="8.9")
    build = fleet.build(request)
    (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
    text = json.loads(json.loads(message["Body"])["Message"])
    assert text.startswith("The build of a TensorRT engine ended as FAILED (sentences, s3://")
    assert f" Build: {build['arn']}." in text
    assert fleet.store.address(request) in text
    assert "<" not in text
    assert text.endswith(build["logs"]["streamName"])
