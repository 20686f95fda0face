"""Settings of an endpoint that nothing heeds on this machine are told by `fleet local status`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import DATA, ROLE, Stacks, embedded_aws

KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
CAPTURE = {
    "EnableCapture": True,
    "InitialSamplingPercentage": 10,
    "DestinationS3Uri": "s3://data/capture/e",
    "CaptureOptions": [{"CaptureMode": "Input"}],
}
VPC = {"Subnets": ["subnet-1", "subnet-2"], "SecurityGroupIds": ["sg-1"]}


@pytest.fixture(scope="module")
def aws_and_host() -> Iterator[tuple[EmbeddedAws, RecordingHost]]:
    with embedded_aws() as process:
        yield process


@pytest.mark.parametrize(
    ("model", "config", "messages"),
    [
        ({}, {}, ()),
        ({"EnableNetworkIsolation": False}, {}, ()),
        ({"VpcConfig": VPC}, {}, ("subnets subnet-1, subnet-2: the container is in this machine's network",)),
        (
            {"EnableNetworkIsolation": True},
            {},
            ("network isolation: the container reaches whatever this machine reaches",),
        ),
        ({}, {"KmsKeyId": KEY}, (f"key {KEY}: nothing is encrypted",)),
        (
            {},
            {"DataCaptureConfig": CAPTURE},
            ("data capture to s3://data/capture/e: no call is captured",),
        ),
    ],
)
def test_what_is_not_done_here_is_told(
    aws_and_host: tuple[EmbeddedAws, RecordingHost],
    model: dict[str, Any],
    config: dict[str, Any],
    messages: tuple[str, ...],
) -> None:
    aws, host = aws_and_host
    name = f"unlike{len(host.served)}"
    container = {"Image": "triton:25.04", "ModelDataUrl": DATA}
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
        "InstanceType": "ml.g5.xlarge",
        "InitialInstanceCount": 1,
        "InitialVariantWeight": 1,
    }
    resources = {
        "Model": ("Model", {"ExecutionRoleArn": ROLE, "PrimaryContainer": container, **model}),
        "Config": ("EndpointConfig", {"ProductionVariants": [variant], **config}),
        "Endpoint": (
            "Endpoint",
            {"EndpointName": name, "EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]}},
        ),
    }
    stack = {
        id: {"Type": f"AWS::SageMaker::{kind}", "Properties": properties}
        for id, (kind, properties) in resources.items()
    }
    assert Stacks(aws).create(name, stack) == "CREATE_COMPLETE"
    assert host.served[-1].unlike == messages
