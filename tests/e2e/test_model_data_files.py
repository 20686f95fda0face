"""A Model whose data is no archive, as SageMaker takes it: the files below a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.hosting import HostingError
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import ROLE, Stacks, endpoint
from tests.support.zoo import IMAGE
from triton_fleet.local.model_data import fetch_model_files

FILES = {"S3DataType": "S3Prefix", "CompressionType": "None"}
ARCHIVE = {"S3DataType": "S3Object", "CompressionType": "Gzip"}


@pytest.fixture(autouse=True)
def bucket(aws: EmbeddedAws) -> None:
    client(aws, "s3").put_object(Bucket="data", Key="files/double/config.pbtxt", Body=b"")


def source(uri: str, form: Mapping[str, str]) -> dict[str, Any]:
    return {"ModelDataSource": {"S3DataSource": {"S3Uri": uri, **form}}}


def create(aws: EmbeddedAws, name: str, **container: Any) -> dict[str, Any]:
    sagemaker, primary = client(aws, "sagemaker"), {"Image": IMAGE, **container}
    sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=primary)
    primary_container: dict[str, Any] = sagemaker.describe_model(ModelName=name)["PrimaryContainer"]
    return primary_container


# --- CreateModel


def test_a_model_may_have_its_files_below_a_prefix(aws: EmbeddedAws) -> None:
    data = source("s3://data/files/", FILES)
    values = create(aws, "files", **data)
    assert {name: values[name] for name in data} == data
    assert "ModelDataUrl" not in values


@pytest.mark.parametrize(
    ("container", "message"),
    [
        (
            {**source("s3://data/files/", FILES), "ModelDataUrl": "s3://data/model.tar.gz"},
            "ModelDataUrl and ModelDataSource cannot both be specified",
        ),
        (
            {**source("s3://data/files/", FILES), "Mode": "MultiModel"},
            "ModelDataSource cannot be used with multi-model endpoints",
        ),
        (source("s3://data/files", FILES), "'s3://data/files' .* must end with a forward slash"),
        (source("s3://data/none/", FILES), r"Could not find model data at s3://data/none/\."),
        (source("s3://no-bucket/files/", FILES), r"Could not find model data at s3://no-bucket/files/\."),
        (source("s3://data/files/", ARCHIVE), r"Could not find model data at s3://data/files/\."),
        (
            source("s3://data/files/", {"S3DataType": "S3Prefix", "CompressionType": "Gzip"}),
            "cannot have S3DataType 'S3Prefix' with CompressionType 'Gzip'",
        ),
    ],
)
def test_sagemaker_refuses_what_it_documents(
    aws: EmbeddedAws, container: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClientError, match=message) as refusal:
        create(aws, "refused", **container)
    assert refusal.value.response["Error"]["Code"] == "ValidationException"


def test_files_that_were_deleted_are_not_found(aws: EmbeddedAws) -> None:
    s3 = client(aws, "s3")
    s3.create_bucket(Bucket="versioned")
    s3.put_bucket_versioning(Bucket="versioned", VersioningConfiguration={"Status": "Enabled"})
    for key in ("files/config.pbtxt", "model.tar.gz"):
        s3.put_object(Bucket="versioned", Key=key, Body=b"")
        s3.delete_object(Bucket="versioned", Key=key)
    with pytest.raises(ClientError, match="Could not find model data"):
        create(aws, "deleted", **source("s3://versioned/files/", FILES))
    with pytest.raises(ClientError, match="Could not find model data"):
        create(aws, "deleted", ModelDataUrl="s3://versioned/model.tar.gz")


def test_cloudformation_deploys_files_and_refuses_what_sagemaker_refuses(
    stacks: Stacks, host: RecordingHost
) -> None:
    def resources(name: str, **data: Any) -> dict[str, Any]:
        declared_endpoint = endpoint(name)
        declared_endpoint["Model"]["Properties"]["PrimaryContainer"] = {"Image": "triton:25.04", **data}
        return declared_endpoint

    assert stacks.create("Files", resources("files", **source("s3://data/files/", FILES))) == (
        "CREATE_COMPLETE"
    )
    container = host.served[-1].container
    assert (container.model_data_url, container.files, container.mode) == (
        "s3://data/files/",
        True,
        "SingleModel",
    )
    assert stacks.create("Nothing", resources("nothing", ModelDataSource={})) == "ROLLBACK_COMPLETE"
    assert any("cannot have S3DataType ''" in reason for _, _, reason in stacks.events("Nothing"))


def test_a_named_archive_is_an_archive_and_a_single_file_is_no_repository(
    aws: EmbeddedAws, host: RecordingHost
) -> None:
    sagemaker = client(aws, "sagemaker")
    single = {"S3DataType": "S3Object", "CompressionType": "None"}
    statuses = []
    for name, form in (("archive", ARCHIVE), ("single", single)):
        create(aws, name, **source("s3://data/model.tar.gz", form))
        variant = {"VariantName": "AllTraffic", "ModelName": name, "InstanceType": "ml.g5.xlarge"}
        sagemaker.create_endpoint_config(
            EndpointConfigName=name, ProductionVariants=[{**variant, "InitialInstanceCount": 1}]
        )
        sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)
        statuses.append(sagemaker.describe_endpoint(EndpointName=name))
    assert [status["EndpointStatus"] for status in statuses] == ["InService", "Failed"]
    assert host.served[-1].container.files is False
    assert "s3://data/model.tar.gz is a single file" in statuses[1]["FailureReason"]


# --- what the host downloads


def put(aws: EmbeddedAws, prefix: str, files: Mapping[str, bytes]) -> str:
    s3 = client(aws, "s3")
    for path, body in files.items():
        s3.put_object(Bucket="data", Key=f"{prefix}{path}", Body=body)
    return f"s3://data/{prefix}"


def test_all_files_below_the_prefix_are_downloaded_and_no_others(
    aws: EmbeddedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "3")  # a page of the listing
    files = {"a/config.pbtxt": b"a", "a/1/model.onnx": b"\0" * 9, "ü/1/größe ✓.txt": b"", "root": b"r"}
    many = {f"many/1/{number:04}": b"%d" % number for number in range(10)}
    url = put(aws, "right/", {**files, **many})
    put(aws, "right", {"-other/config.pbtxt": b"other"})
    model = fetch_model_files(client(aws, "s3"), url, tmp_path)
    contents = {
        path.relative_to(model).as_posix(): path.read_bytes() for path in model.rglob("*") if path.is_file()
    }
    assert contents == {**files, **many}


@pytest.mark.parametrize(
    "key", ["a//b", "../a", "a/../../b", "a/./b", "/etc/passwd", "folder/", "a/ /b", "n" * 256, "€" * 86]
)
def test_a_key_that_is_no_path_of_a_file_is_refused(aws: EmbeddedAws, tmp_path: Path, key: str) -> None:
    url = put(aws, f"wrong/{key.encode().hex()[:60]}/", {"config.pbtxt": b"", key: b""})
    with pytest.raises(HostingError, match="is not a name of a file or folder"):
        fetch_model_files(client(aws, "s3"), url, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_may_have_255_bytes(aws: EmbeddedAws, tmp_path: Path) -> None:
    url = put(aws, "long/", {"€" * 85: b"long"})
    assert (fetch_model_files(client(aws, "s3"), url, tmp_path) / ("€" * 85)).read_bytes() == b"long"


def test_a_name_of_both_a_file_and_a_folder_is_refused(aws: EmbeddedAws, tmp_path: Path) -> None:
    url = put(aws, "clash/", {"weights": b"", "weights/deep/part1": b""})
    with pytest.raises(HostingError, match="has 'weights' both as a file and as a folder"):
        fetch_model_files(client(aws, "s3"), url, tmp_path)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://data/gone/", "Could not find model data at s3://data/gone/"),
        ("s3://no-bucket/gone/", "Could not list model data at s3://no-bucket/gone/"),
    ],
)
def test_files_that_are_gone_are_named(aws: EmbeddedAws, tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(HostingError, match=message):
        fetch_model_files(client(aws, "s3"), url, tmp_path)
