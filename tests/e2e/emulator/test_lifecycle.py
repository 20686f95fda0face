"""The embedded AWS starts clean, once at a time."""

from __future__ import annotations

import json
import os
import socket
import threading

import pytest
from botocore.exceptions import EndpointConnectionError

from fleet_emulator.server import EmbeddedAws
from tests.support.builds import Builds, commands
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_keys import KEYS
from tests.support.running_aws import running_aws


def test_each_start_begins_with_an_empty_account() -> None:
    for _ in range(2):
        aws = EmbeddedAws(RecordingHost(), keys=KEYS)
        aws.start()
        try:
            s3, cloudformation = client(aws, "s3"), client(aws, "cloudformation")
            assert s3.list_buckets()["Buckets"] == []
            s3.create_bucket(Bucket="one")
            body = '{"Resources": {"Thing": {"Type": "Custom::Thing"}}}'
            cloudformation.create_stack(StackName="one", TemplateBody=body)
            assert aws.skipped_resources == ("Custom::Thing Thing (one)",)
        finally:
            aws.stop()


def test_only_one_runs_in_a_process() -> None:
    first, second = EmbeddedAws(RecordingHost(), keys=KEYS), EmbeddedAws(RecordingHost(), keys=KEYS)
    first.start()
    try:
        with pytest.raises(RuntimeError, match="already running"):
            second.start()
    finally:
        first.stop()
    second.start()
    second.stop()


def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_behind() -> None:
    with socket.socket() as socket_in_use:
        socket_in_use.bind(("127.0.0.1", 0))
        socket_in_use.listen()
        aws = EmbeddedAws(RecordingHost(), port=socket_in_use.getsockname()[1], keys=KEYS)
        with pytest.raises((OSError, SystemExit)):
            aws.start()
    after = EmbeddedAws(RecordingHost(), keys=KEYS)
    after.start()
    after.stop()


def test_stopping_waits_for_the_stack_under_way() -> None:
    host = RecordingHost()
    aws = EmbeddedAws(host, keys=KEYS)
    aws.start()
    host.may_finish.clear()
    container = {"Image": "triton", "ModelDataUrl": "s3://data/models/", "Mode": "MultiModel"}
    sagemaker = client(aws, "sagemaker")
    sagemaker.create_model(
        ModelName="m", ExecutionRoleArn="arn:aws:iam::1:role/r", PrimaryContainer=container
    )
    variant = {
        "VariantName": "v",
        "ModelName": "m",
        "InstanceType": "ml.g5.xlarge",
        "InitialInstanceCount": 1,
    }
    sagemaker.create_endpoint_config(EndpointConfigName="c", ProductionVariants=[variant])
    endpoint = {"Type": "AWS::SageMaker::Endpoint", "Properties": {"EndpointConfigName": "c"}}
    template = json.dumps({"Resources": {"Endpoint": endpoint}})
    client(aws, "cloudformation").create_stack(StackName="slow", TemplateBody=template)
    release = threading.Timer(0.2, host.may_finish.set)
    release.start()
    aws.stop()
    assert [served.config_name for served in host.served] == ["c"]
    with pytest.raises(EndpointConnectionError):
        sagemaker.list_models()
    aws.stop()


def test_builds_end_with_the_embedded_aws() -> None:
    with running_aws() as aws:
        builds = Builds(aws)
        id = builds.start(builds.project("ends", commands("echo $$; exec sleep 1000")))
        pause = threading.Event()
        while not (lines := builds.lines(builds.current_build(id))):
            pause.wait(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(int(lines[0]), 0)
