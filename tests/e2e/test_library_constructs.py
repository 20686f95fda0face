"""The constructs in somebody else's stack, deployed by the real CDK CLI, changed and destroyed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.embedded_app.cdk_cli import CdkCli, synthesise
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks, embedded_aws

SECONDS = 120
pytestmark = [pytest.mark.cdk, pytest.mark.nightly]


def test_a_host_stack_is_deployed_changed_and_destroyed(tmp_path: Path) -> None:
    synthesise("library.py", tmp_path)
    with embedded_aws() as (aws, host):
        cdk = CdkCli(aws.url, tmp_path, SECONDS)
        cdk("bootstrap", "aws://123456789012/us-east-1")
        cdk("deploy", "--all")
        assert aws.skipped_resources == ()
        sagemaker = client(aws, "sagemaker")
        statuses = {
            name: sagemaker.describe_endpoint(EndpointName=name)["EndpointStatus"]
            for name in ("plain", "scaled")
        }
        assert statuses == {"plain": "InService", "scaled": "InService"}
        assert Stacks(aws).outputs("Host")["Endpoint"].endswith(":endpoint/scaled")
        assert instance_type(sagemaker, "scaled") == "ml.g5.xlarge"
        # AWS refuses the change while the variant is scaled: the support's guard takes the scaling aside.
        cdk("deploy", "--all", variant="changed")
        assert instance_type(sagemaker, "scaled") == "ml.g6.xlarge"
        targets = client(aws, "application-autoscaling").describe_scalable_targets(
            ServiceNamespace="sagemaker"
        )
        assert sorted(scalable_target["MaxCapacity"] for scalable_target in targets["ScalableTargets"]) == [
            2,
            3,
        ]
        cdk("destroy", "--all", "--force", variant="changed")
        assert sagemaker.list_endpoints()["Endpoints"] == []
        assert set(host.removals) == {"plain", "scaled"}


def instance_type(sagemaker: Any, endpoint: str) -> str:
    config = sagemaker.describe_endpoint(EndpointName=endpoint)["EndpointConfigName"]
    (variant,) = sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
    return str(variant["InstanceType"])
