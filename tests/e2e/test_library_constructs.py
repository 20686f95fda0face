"""The constructs in somebody else's stack, deployed by the real CDK CLI, changed and destroyed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from embedded_keys import VARIABLES
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.host import RecordingHost
from tests.e2e.embedded_app.stacks import Stacks, embedded_aws

ROOT = Path(__file__).parents[2]
CLI = ROOT / "node_modules" / ".bin" / "cdk"
APP = ROOT / "tests" / "e2e" / "embedded_app" / "library.py"
SECONDS = 120
pytestmark = pytest.mark.cdk


@contextmanager
def deployments(folder: Path) -> Iterator[tuple[Any, RecordingHost, Any]]:
    """The embedded AWS, its host, and the CDK CLI."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Not in the CLI's home: jsii unpacks the CDK library once for each.
    subprocess.run([sys.executable, APP, folder], check=True, env=os.environ | {"PATH": path})
    with embedded_aws() as (aws, host):
        environment = {
            "PATH": path,
            "HOME": str(folder),
            "AWS_ENDPOINT_URL": aws.url,
            **VARIABLES,
            "AWS_REGION": "us-east-1",
            "CDK_DISABLE_CLI_TELEMETRY": "1",
        }

        def cdk(*arguments: str, variant: str = "first") -> None:
            options = ["--no-notices", "--require-approval", "never", "--app", str(folder / variant)]
            done = subprocess.run(
                [CLI, *arguments, *options],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=SECONDS,
            )
            assert done.returncode == 0, done.stdout

        yield aws, host, cdk


def test_a_host_stack_is_deployed_changed_and_destroyed(tmp_path: Path) -> None:
    with deployments(tmp_path) as (aws, host, cdk):
        cdk("bootstrap", "aws://123456789012/us-east-1")
        cdk("deploy", "--all")
        assert aws.skipped == ()
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
        assert [each["MaxCapacity"] for each in targets["ScalableTargets"]] == [2]
        cdk("destroy", "--all", "--force", variant="changed")
        assert sagemaker.list_endpoints()["Endpoints"] == []
        assert set(host.removed) == {"plain", "scaled"}


def instance_type(sagemaker: Any, endpoint: str) -> str:
    config = sagemaker.describe_endpoint(EndpointName=endpoint)["EndpointConfigName"]
    (variant,) = sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
    return str(variant["InstanceType"])
