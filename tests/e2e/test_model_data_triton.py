"""A real Triton serves a Model's uncompressed files as it serves their archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.zoo import IMAGE, Zoo, pack_files, times
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = pytest.mark.triton

BUCKET = "model-data"
ENVIRONMENT = {"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "times"}


@pytest.fixture(scope="module")
def zoo(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    """A host without an endpoint of its own."""
    zoo = Zoo(runtime, tmp_path_factory.mktemp("state"))
    zoo.aws.start()
    zoo.client("s3").create_bucket(Bucket=BUCKET)
    yield zoo
    zoo.stop()


def deploy(zoo: Zoo, name: str, url: str, *, data_type: str, compression: str) -> dict[str, Any]:
    """Create an endpoint; what DescribeEndpoint says then."""
    sagemaker = zoo.client("sagemaker")
    data = {"S3Uri": url, "S3DataType": data_type, "CompressionType": compression}
    container = {
        "Image": IMAGE,
        "ModelDataSource": {"S3DataSource": data},
        "Environment": ENVIRONMENT,
    }
    role = "arn:aws:iam::123456789012:role/any"
    sagemaker.create_model(ModelName=name, ExecutionRoleArn=role, PrimaryContainer=container)
    variant = {"VariantName": "AllTraffic", "ModelName": name, "InstanceType": "ml.g5.xlarge"}
    sagemaker.create_endpoint_config(
        EndpointConfigName=name, ProductionVariants=[{**variant, "InitialInstanceCount": 1}]
    )
    sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)
    endpoint: dict[str, Any] = sagemaker.describe_endpoint(EndpointName=name)
    return endpoint


def invoke(zoo: Zoo, name: str) -> list[float]:
    tensor = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1.0, 2.0]}
    answer = zoo.client("sagemaker-runtime").invoke_endpoint(
        EndpointName=name, ContentType="application/json", Body=json.dumps({"inputs": [tensor]})
    )
    (output,) = json.loads(answer["Body"].read())["outputs"]
    data: list[float] = output["data"]
    return data


def test_files_below_a_prefix_and_their_archive_are_served_alike(zoo: Zoo) -> None:
    s3, files = zoo.client("s3"), times(3)
    for path, text in files.items():
        s3.put_object(Bucket=BUCKET, Key=f"endpoints/files/abc/{path}", Body=text.encode())
    s3.put_object(Bucket=BUCKET, Key="archive.tar.gz", Body=pack_files(files))
    for name, url, data_type, compression in (
        ("files", f"s3://{BUCKET}/endpoints/files/abc/", "S3Prefix", "None"),
        ("archive", f"s3://{BUCKET}/archive.tar.gz", "S3Object", "Gzip"),
    ):
        status = deploy(zoo, name, url, data_type=data_type, compression=compression)
        assert status["EndpointStatus"] == "InService", status.get("FailureReason")
        assert invoke(zoo, name) == [3.0, 6.0]


def test_a_folder_of_the_s3_console_fails_the_endpoint_by_its_key(zoo: Zoo, tmp_path: Path) -> None:
    s3 = zoo.client("s3")
    s3.put_object(Bucket=BUCKET, Key="console/times/", Body=b"")
    status = deploy(zoo, "console", f"s3://{BUCKET}/console/", data_type="S3Prefix", compression="None")
    assert status["EndpointStatus"] == "Failed"
    assert "'console/times/' cannot be a file of a model" in status["FailureReason"]
    work = zoo.state.folder / "endpoints" / "console"
    assert list(work.iterdir()) == [], "nothing is left of what could not be served"
