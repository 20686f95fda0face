"""An endpoint with functions of its own stack, on the real CDK CLI: moved from a support, changed, and destroyed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.cdk_cli import CdkCli, synthesise
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks, embedded_aws
from tests.support.runtime_stand_in import RuntimeStandIn

SECONDS = 120
pytestmark = [pytest.mark.cdk, pytest.mark.nightly]


def test_an_endpoint_is_scaled_and_checked_by_a_support_and_then_by_its_own_stack(tmp_path: Path) -> None:
    synthesise("own_functions.py", tmp_path)
    runtime = RuntimeStandIn()
    with embedded_aws(runtime) as (aws, host):
        cdk, stacks = CdkCli(aws.url, tmp_path, SECONDS), Stacks(aws)
        cdk("bootstrap", "aws://123456789012/us-east-1")
        cdk("deploy", "--all")
        assert {"Key": "triton-fleet:endpoints/lib", "Value": "true"} in tags(stacks, "Host")
        assert own_resources(stacks) == []
        # CloudFormation refuses another service token: these are other custom resources.
        cdk("deploy", "--all", variant="own")
        assert own_resources(stacks) != []
        # AWS refuses the change while the variant is scaled: the stack's own guard takes the scaling aside.
        cdk("deploy", "--all", variant="changed")
        assert instance_type(aws) == "ml.g6.xlarge"
        assert capacity(aws) == (1, 2)
        assert len(runtime.requests) == 3, "the sample is sent once after each deploy"
        assert aws.skipped_resources == ()
        cdk("destroy", "--all", "--force", variant="changed")
        assert host.removals == ["scaled"]
        buckets = [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]
        assert [name for name in buckets if name.startswith("host-")] == []


def tags(stacks: Stacks, name: str) -> Any:
    return stacks.api.describe_stacks(StackName=name)["Stacks"][0]["Tags"]


def own_resources(stacks: Stacks) -> list[str]:
    """The resources of the host stack that a support would have."""
    return [id for id in stacks.physical_ids("Host") if id.startswith("TritonFunctions")]


def capacity(aws: EmbeddedAws) -> tuple[int, int]:
    (target,) = client(aws, "application-autoscaling").describe_scalable_targets(
        ServiceNamespace="sagemaker"
    )["ScalableTargets"]
    return target["MinCapacity"], target["MaxCapacity"]


def instance_type(aws: EmbeddedAws) -> str:
    sagemaker: Any = client(aws, "sagemaker")
    config = sagemaker.describe_endpoint(EndpointName="scaled")["EndpointConfigName"]
    (variant,) = sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
    return str(variant["InstanceType"])
