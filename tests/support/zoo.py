"""A deployed multi-model endpoint on a real Triton: an embedded AWS, a bucket, and archives made of a few lines."""

from __future__ import annotations

import io
import json
import tarfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from fleet_emulator.permissions import may_put_metrics
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_keys import KEYS, SESSION
from tests.support.endpoint_ids import endpoint_id
from triton_fleet.local.endpoint_host import TritonHost
from triton_fleet.local.gateway import Gateway
from triton_fleet.local.state import LocalState
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.spec.environment import LocalLimits

BUCKET, PREFIX, ENDPOINT = "zoo-bucket", "endpoints/zoo/live/", "zoo"
ROLE = "arn:aws:iam::123456789012:role/zoo"
"""No such role is made."""
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
ENVIRONMENT = {
    "SAGEMAKER_TRITON_PING_MODE": "live",
    "SAGEMAKER_TRITON_OVERRIDE_PING_MODE": "live",
    "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
    "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
    "SAGEMAKER_TRITON_PUBLISH_METRICS_TO_CLOUDWATCH": "true",
    "SAGEMAKER_TRITON_CLOUDWATCH_METRIC_NAMESPACE": "TritonFleet/zoo",
    "SAGEMAKER_TRITON_METRICS_PORT": "23000",
}
CONFIG = """\
backend: "python"
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] } ]
instance_group { kind: KIND_GPU }
"""
TIMES = """\
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.ballast = bytearray({megabytes} << 20)
        self.ballast[::4096] = b"x" * len(self.ballast[::4096])
{initialize}

    def execute(self, requests):
        inputs = [pb_utils.get_input_tensor_by_name(request, "x").as_numpy() for request in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", {factor} * x)]) for x in inputs]
"""


def times(factor: int, *, megabytes: int = 0, initialize: str = "        pass") -> dict[str, str]:
    """The files of one model that multiplies by `factor` and holds so much memory."""
    code = TIMES.format(factor=factor, megabytes=megabytes, initialize=initialize)
    return {"times/config.pbtxt": CONFIG, "times/1/model.py": code}


def pack_files(files: Mapping[str, str]) -> bytes:
    """A .tar.gz of these files."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return archive.getvalue()


class Zoo:
    """One endpoint over one prefix; `recorded` holds what was counted, `limits` may be changed at any time."""

    def __init__(self, runtime: TritonRuntime, folder: Path) -> None:
        self.metrics: list[tuple[str, float]] = []
        self.limits = LocalLimits()
        self.state = LocalState(folder)
        self.host = TritonHost(
            self.state,
            runtime,
            s3=lambda *_: self.client("s3"),
            limits=lambda: self.limits,
            record=lambda _endpoint, _variant, measure, value: self.metrics.append((measure, value)),
            may_put=may_put_metrics,
        )
        self.aws = EmbeddedAws(self.host, Gateway(self.host.open_call), keys=KEYS)

    def start(self) -> None:
        """Deploy the endpoint as CloudFormation would; where it fails, nothing is left."""
        self.aws.start()
        try:
            self._deploy()
        except BaseException:
            self.stop()
            raise

    def container(self) -> dict[str, Any]:
        """The version of its model that runs."""
        url = f"s3://{BUCKET}/{PREFIX}"
        return {"Image": IMAGE, "Mode": "MultiModel", "ModelDataUrl": url, "Environment": ENVIRONMENT}

    def _deploy(self) -> None:
        self.s3, self.runtime = self.client("s3"), self.client("sagemaker-runtime")
        self.s3.create_bucket(Bucket=BUCKET)
        sagemaker = self.client("sagemaker")
        sagemaker.create_model(ModelName="zoo", ExecutionRoleArn=ROLE, PrimaryContainer=self.container())
        variant = {
            "VariantName": "AllTraffic",
            "ModelName": "zoo",
            "InstanceType": "ml.g5.xlarge",
            "InitialInstanceCount": 1,
        }
        sagemaker.create_endpoint_config(EndpointConfigName="zoo", ProductionVariants=[variant])
        sagemaker.create_endpoint(EndpointName=ENDPOINT, EndpointConfigName="zoo")
        status = sagemaker.describe_endpoint(EndpointName=ENDPOINT)
        assert status["EndpointStatus"] == "InService", status.get("FailureReason")

    def stop(self) -> None:
        """End everything."""
        self.host.close()
        self.aws.stop()

    def client(self, service: str) -> Any:
        """A boto3 client of the embedded AWS."""
        return boto3.client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.aws.url,
            region_name="us-east-1",
            **SESSION,
            config=Config(retries={"total_max_attempts": 1}, read_timeout=70, max_pool_connections=256),
        )

    def upload(self, target: str, files: Mapping[str, str] | bytes) -> None:
        """Put an archive below the endpoint's prefix."""
        body = files if isinstance(files, bytes) else pack_files(files)
        self.s3.put_object(Bucket=BUCKET, Key=f"{PREFIX}{target}", Body=body)

    def delete(self, target: str) -> None:
        """Take an archive away."""
        self.s3.delete_object(Bucket=BUCKET, Key=f"{PREFIX}{target}")

    def call(self, target: str, x: float = 1.0) -> float:
        """The numbers that a target makes of x."""
        tensor = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [x, x]}
        answer = self.runtime.invoke_endpoint(
            EndpointName=ENDPOINT,
            TargetModel=target,
            ContentType="application/json",
            Body=json.dumps({"inputs": [tensor]}),
        )
        document = json.loads(answer["Body"].read())
        assert document["model_name"] == target
        (output,) = document["outputs"]
        return float(output["data"][0])

    def count(self, measure: str) -> int:
        """How often a measure was recorded."""
        return sum(name == measure for name, _ in self.metrics)

    def report(self) -> dict[str, Any]:
        """The endpoint's part of the status."""
        (report,) = self.host.report()
        return report

    @property
    def log(self) -> Path:
        """The log of its Triton."""
        return self.state.endpoint_log(str(self.report()["log"]))

    def states(self) -> dict[str, str]:
        """The facts of each target."""
        return {model["target"]: model["state"] for model in self.report()["models"]}

    @property
    def server(self) -> Any:
        """The present Triton."""
        return self.host._endpoints[endpoint_id(ENDPOINT)].triton.server

    def ping(self) -> int:
        """The status of Triton's own /ping."""
        return int(self.server.pool.request("GET", "/ping", timeout=5).status)


def call_in_parallel(calls: list[Any]) -> list[Any]:
    """Make the calls from as many threads at one moment; their results or exceptions, in order."""
    results: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(index: int) -> None:
        barrier.wait()
        try:
            results[index] = calls[index]()
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
