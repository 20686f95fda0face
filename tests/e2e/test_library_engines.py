"""An engine that a Model depends on: the real CDK CLI deploys it to an embedded AWS, whose builds have stand-ins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.cdk_cli import CdkCli, synthesise
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks, embedded_aws

SECONDS = 240
PROJECT = "triton-fleet-lib-engines-job"
pytestmark = [pytest.mark.cdk, pytest.mark.nightly]


def test_a_deploy_has_the_engine_built_once_and_the_model_gets_it(tmp_path: Path) -> None:
    synthesise("engines.py", tmp_path)
    with embedded_aws() as (aws, _):
        cdk = CdkCli(aws.url, tmp_path, SECONDS)
        cdk("bootstrap", "aws://123456789012/us-east-1")
        cdk("deploy", "--all")
        assert aws.skipped_resources == ()
        assert (
            client(aws, "sagemaker").describe_endpoint(EndpointName="bert")["EndpointStatus"] == "InService"
        )
        first = model_data(aws)
        assert sorted(first) == ["bert/1/model.plan", "bert/config.pbtxt"]
        assert len(builds(aws)) == 1
        # Other files of the repository: another prefix, with the engine that exists.
        cdk("deploy", "--all", variant="other-files")
        second = model_data(aws)
        assert second["bert/1/model.plan"] == first["bert/1/model.plan"]
        assert second["bert/config.pbtxt"].endswith(b"# another comment\n")
        assert len(builds(aws)) == 1
        # A build that fails: the stack goes back to what it had, and the reason is the build's.
        output = cdk("deploy", "--all", variant="unsupported", fails=True)
        assert "unsupported operator" in output
        assert Stacks(aws).status("Host") == "UPDATE_ROLLBACK_COMPLETE"
        assert model_data(aws) == second
        cdk("destroy", "--all", "--force", variant="other-files")
        assert [key for key in objects(aws) if key.startswith("repositories/")], "content is kept"


def builds(aws: EmbeddedAws) -> list[str]:
    ids: list[str] = client(aws, "codebuild").list_builds_for_project(projectName=PROJECT)["ids"]
    return ids


def model_data(aws: EmbeddedAws) -> dict[str, bytes]:
    """The files that the endpoint's Model has, by path."""
    sagemaker: Any = client(aws, "sagemaker")
    config = sagemaker.describe_endpoint(EndpointName="bert")["EndpointConfigName"]
    (variant,) = sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
    container = sagemaker.describe_model(ModelName=variant["ModelName"])["PrimaryContainer"]
    bucket, _, prefix = (
        container["ModelDataSource"]["S3DataSource"]["S3Uri"].removeprefix("s3://").partition("/")
    )
    s3: Any = client(aws, "s3")
    return {
        key.removeprefix(prefix): s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        for key in objects(aws)
        if key.startswith(prefix)
    }


def objects(aws: EmbeddedAws) -> list[str]:
    bucket = "triton-fleet-lib-123456789012-us-east-1"
    return [entry["Key"] for entry in client(aws, "s3").list_objects_v2(Bucket=bucket)["Contents"]]
