"""Bodies that only one source of AWS allows: client, signatures, gateway, router and a real Triton, and all the way back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import numpy as np
import pytest
from botocore.exceptions import ClientError

from endpoint_check.handler import is_complete
from fleet_client import CLIENT_CONFIG, PayloadError, TritonEndpoint
from tests.support.embedded_keys import SESSION
from tests.support.sampled_endpoint import SECONDS, SampledEndpoint
from tests.support.zoo import BUCKET, ENDPOINT, IMAGE, PREFIX, Zoo
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.shared_container import missing_program

pytestmark = pytest.mark.triton

CONFIG = """\
backend: "python"
input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ -1 ] } ]
"""
ECHO = """\
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        inputs = [pb_utils.get_input_tensor_by_name(request, "x").as_numpy() for request in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", x)]) for x in inputs]
"""
SINGLE = {"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "echo"}
ROUTES = {"default": "echo", "routes": {"echo": {"model": "echo", "versions": ["1"]}}}
SHARED_SETTINGS = {"TRITON_FLEET_ROUTES": json.dumps(ROUTES)}
SIZES = [24_000_000, pytest.param(6_500_000, marks=pytest.mark.nightly)]


class Echo(Zoo):
    """An endpoint whose one model answers with its input."""

    def __init__(self, runtime: TritonRuntime, folder: Path, variables: dict[str, str]) -> None:
        super().__init__(runtime, folder)
        self.variables = variables

    def container(self) -> dict[str, Any]:
        self.upload("echo.tar.gz", {"echo/config.pbtxt": CONFIG, "echo/1/model.py": ECHO})
        url = f"s3://{BUCKET}/{PREFIX}echo.tar.gz"
        return {"Image": IMAGE, "ModelDataUrl": url, "Environment": self.variables}

    @property
    def endpoint(self) -> TritonEndpoint:
        """The endpoint as an application calls it."""
        client = boto3.client(
            "sagemaker-runtime",
            endpoint_url=self.aws.url,
            region_name="us-east-1",
            **SESSION,
            config=CLIENT_CONFIG,
        )
        return TritonEndpoint(ENDPOINT, client=client)

    def check(self, size: int) -> dict[str, Any]:
        """The check of a deploy, with a sample of so many bytes."""
        tensor = {"datatype": "FP32", "shape": [size // 4], "data": 0.5, "tolerance": 0}
        sample = {"name": "large", "inputs": {"x": tensor}, "outputs": {"y": tensor}}
        event = SampledEndpoint().event(sample, EndpointName=ENDPOINT, EndpointConfigName="zoo")
        event["Deadline"] = time.time() + 60
        return is_complete(
            event, SampledEndpoint(), lambda service, config=None: self.client(service), {"SECONDS": SECONDS}
        )


@pytest.fixture(scope="module", params=[SINGLE, SHARED_SETTINGS], ids=["single", "shared container"])
def echo(
    request: pytest.FixtureRequest, runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Echo]:
    if request.param is SHARED_SETTINGS and (text := missing_program()):
        pytest.skip(f"this machine has no {text}")
    echo = Echo(runtime, tmp_path_factory.mktemp("echo"), request.param)
    echo.start()
    yield echo
    echo.stop()


@pytest.mark.parametrize("size", SIZES)
def test_a_body_that_only_one_source_allows_comes_back_whole(echo: Echo, size: int) -> None:
    payload = np.arange(size // 4, dtype=np.float32)
    assert np.array_equal(echo.endpoint.infer({"x": payload})["y"], payload)


@pytest.mark.parametrize("size", SIZES)
def test_the_check_of_a_deploy_sends_and_reads_one(echo: Echo, size: int) -> None:
    assert "samples passed: 1" in echo.check(size)["Data"]["Summary"]


def test_a_larger_body_is_refused_by_the_client_and_by_the_endpoint(echo: Echo) -> None:
    with pytest.raises(PayloadError, match="26,300,.* bytes, and SageMaker takes 26,214,400"):
        echo.endpoint.infer({"x": np.zeros(26_300_000 // 4, np.float32)})
    with pytest.raises(ClientError, match="HTTP content length exceeded 26214400 bytes"):
        echo.runtime.invoke_endpoint(EndpointName=ENDPOINT, Body=bytes(26_300_000))
