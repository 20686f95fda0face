"""The embedded AWS as boto3 meets it: SageMaker's API, invocations and failures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from moto.cloudwatch.models import CloudWatchBackend
from moto.s3.models import S3Backend
from moto.ssm.models import SimpleSystemManagerBackend

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_keys import KEYS
from tests.support.endpoint_capacity import await_service

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

DATA = "s3://data/model.tar.gz"
ROLE = "arn:aws:iam::123456789012:role/any"


def gateway(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "application/json")])
    return [f"invoked {environ['PATH_INFO']}".encode()]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded-aws") / "aws.log"


@pytest.fixture(scope="module")
def host() -> RecordingHost:
    return RecordingHost()


@pytest.fixture(scope="module")
def aws(host: RecordingHost, log: Path) -> Iterator[EmbeddedAws]:
    aws = EmbeddedAws(host, gateway, log=log, keys=KEYS)
    aws.start()
    s3 = client(aws, "s3")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
    yield aws
    aws.stop()


@pytest.fixture
def sagemaker(aws: EmbeddedAws, host: RecordingHost) -> Iterator[Any]:
    yield client(aws, "sagemaker")
    host.failure = ""
    host.may_finish.set()


def create_model(sagemaker: Any, name: str, **container: Any) -> None:
    primary = {"Image": "triton:25.04", "ModelDataUrl": DATA, "Environment": {"A": "1"}, **container}
    sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=primary)


def create_config(
    sagemaker: Any, name: str, *, model: str, instance_type: str = "ml.g6.xlarge", count: int = 1
) -> None:
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": model,
        "InstanceType": instance_type,
        "InitialInstanceCount": count,
    }
    sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[variant])


# --- models and configurations


def test_a_model_without_data_is_refused_as_sagemaker_does(sagemaker: Any) -> None:
    with pytest.raises(
        ClientError, match=r"Could not find model data at s3://data/absent\.tar\.gz"
    ) as refusal:
        create_model(sagemaker, "absent", ModelDataUrl="s3://data/absent.tar.gz")
    assert refusal.value.response["Error"]["Code"] == "ValidationException"
    with pytest.raises(ClientError, match="Could not find model data at s3://no-bucket/x"):
        create_model(sagemaker, "absent", ModelDataUrl="s3://no-bucket/x")


def test_a_multi_model_may_start_with_an_empty_prefix(sagemaker: Any) -> None:
    create_model(sagemaker, "multi", Mode="MultiModel", ModelDataUrl="s3://data/models/")
    assert sagemaker.describe_model(ModelName="multi")["PrimaryContainer"]["Mode"] == "MultiModel"


@pytest.mark.parametrize("instance_type", ["ml.g5.xlarge", "ml.g6e.48xlarge", "ml.p5.48xlarge"])
def test_every_instance_type_that_botocore_knows_is_accepted(sagemaker: Any, instance_type: str) -> None:
    create_model(sagemaker, f"of-{instance_type.replace('.', '-')}")
    model = f"of-{instance_type.replace('.', '-')}"
    create_config(sagemaker, model, model=model, instance_type=instance_type)


def test_an_unknown_instance_type_is_refused_as_sagemaker_does(sagemaker: Any) -> None:
    create_model(sagemaker, "typed")
    with pytest.raises(
        ClientError, match=r"Value 'ml\.g99\.xlarge' at .* Member must satisfy enum value set"
    ):
        create_config(sagemaker, "typed", model="typed", instance_type="ml.g99.xlarge")


def test_a_name_that_exists_is_refused(sagemaker: Any) -> None:
    create_model(sagemaker, "once")
    with pytest.raises(ClientError, match='Cannot create already existing model "arn:aws:sagemaker'):
        create_model(sagemaker, "once")


# --- endpoints


def test_an_endpoint_is_served_with_what_was_deployed(sagemaker: Any, host: RecordingHost) -> None:
    create_model(sagemaker, "served")
    create_config(sagemaker, "served", model="served", count=3)
    sagemaker.create_endpoint(EndpointName="served", EndpointConfigName="served")
    endpoint = host.served[-1]
    assert (endpoint.id.name, endpoint.config_name, endpoint.variant_name) == (
        "served",
        "served",
        "AllTraffic",
    )
    assert (endpoint.container.image, endpoint.container.model_data_url) == ("triton:25.04", DATA)
    assert (endpoint.container.mode, endpoint.container.environment) == ("SingleModel", {"A": "1"})
    described_endpoint = sagemaker.describe_endpoint(EndpointName="served")
    assert described_endpoint["EndpointStatus"] == "InService"
    assert described_endpoint["ProductionVariants"][0]["CurrentInstanceCount"] == 3
    assert described_endpoint["ProductionVariants"][0]["DesiredInstanceCount"] == 3
    sagemaker.delete_endpoint(EndpointName="served")
    assert host.removals[-1] == "served"
    with pytest.raises(ClientError, match="Could not find endpoint"):
        sagemaker.describe_endpoint(EndpointName="served")


def test_an_endpoint_that_cannot_be_served_is_failed_with_the_reason(
    sagemaker: Any, host: RecordingHost
) -> None:
    create_model(sagemaker, "failing")
    create_config(sagemaker, "failing", model="failing")
    host.failure = "the container stopped: no config.pbtxt"
    sagemaker.create_endpoint(EndpointName="failing", EndpointConfigName="failing")
    endpoint = sagemaker.describe_endpoint(EndpointName="failing")
    assert endpoint["EndpointStatus"] == "Failed"
    assert endpoint["FailureReason"] == "the container stopped: no config.pbtxt"


def test_a_defect_of_the_host_fails_the_endpoint_which_can_then_be_deleted(
    sagemaker: Any, host: RecordingHost
) -> None:
    create_model(sagemaker, "defective")
    create_config(sagemaker, "defective", model="defective")
    host.failure = "defect"
    sagemaker.create_endpoint(EndpointName="defective", EndpointConfigName="defective")
    endpoint = sagemaker.describe_endpoint(EndpointName="defective")
    assert (endpoint["EndpointStatus"], "no space left" in endpoint["FailureReason"]) == ("Failed", True)
    sagemaker.delete_endpoint(EndpointName="defective")


def test_an_update_that_fails_keeps_the_old_configuration_in_service(
    sagemaker: Any, host: RecordingHost
) -> None:
    create_model(sagemaker, "kept")
    create_config(sagemaker, "kept-1", model="kept")
    create_config(sagemaker, "kept-2", model="kept")
    sagemaker.create_endpoint(EndpointName="kept", EndpointConfigName="kept-1")
    host.failure = "out of memory"
    sagemaker.update_endpoint(EndpointName="kept", EndpointConfigName="kept-2")
    endpoint = sagemaker.describe_endpoint(EndpointName="kept")
    assert (endpoint["EndpointStatus"], endpoint["EndpointConfigName"]) == ("InService", "kept-1")
    assert endpoint["FailureReason"] == "out of memory"
    host.failure = ""
    sagemaker.update_endpoint(EndpointName="kept", EndpointConfigName="kept-2")
    described_endpoint = sagemaker.describe_endpoint(EndpointName="kept")
    assert (described_endpoint["EndpointConfigName"], described_endpoint.get("FailureReason")) == (
        "kept-2",
        None,
    )


def test_an_update_may_retain_what_scaling_made_of_the_counts(sagemaker: Any) -> None:
    create_model(sagemaker, "scaled")
    for name in ("scaled-1", "scaled-2", "scaled-3"):
        create_config(sagemaker, name, model="scaled")
    sagemaker.create_endpoint(EndpointName="scaled", EndpointConfigName="scaled-1")
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="scaled",
        DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 5}],
    )
    await_service(sagemaker, "scaled")
    sagemaker.update_endpoint(
        EndpointName="scaled", EndpointConfigName="scaled-2", RetainAllVariantProperties=True
    )
    [variant] = sagemaker.describe_endpoint(EndpointName="scaled")["ProductionVariants"]
    assert variant["CurrentInstanceCount"] == 5
    sagemaker.update_endpoint(EndpointName="scaled", EndpointConfigName="scaled-3")
    [variant] = sagemaker.describe_endpoint(EndpointName="scaled")["ProductionVariants"]
    assert variant["CurrentInstanceCount"] == 1


def test_others_are_answered_while_an_endpoint_is_being_created(sagemaker: Any, host: RecordingHost) -> None:
    create_model(sagemaker, "slow")
    create_config(sagemaker, "slow", model="slow")
    host.may_finish.clear()
    request = {"EndpointName": "slow", "EndpointConfigName": "slow"}
    creation = threading.Thread(target=sagemaker.create_endpoint, kwargs=request)
    creation.start()
    while not sagemaker.list_endpoints(NameContains="slow")["Endpoints"]:
        threading.Event().wait(0.01)
    assert sagemaker.describe_endpoint(EndpointName="slow")["EndpointStatus"] == "Creating"
    with pytest.raises(ClientError, match="Cannot update in-progress endpoint"):
        sagemaker.delete_endpoint(EndpointName="slow")
    host.may_finish.set()
    creation.join()
    assert sagemaker.describe_endpoint(EndpointName="slow")["EndpointStatus"] == "InService"


def test_invocations_go_to_the_gateway(aws: EmbeddedAws) -> None:
    runtime = client(aws, "sagemaker-runtime")
    answer = runtime.invoke_endpoint(EndpointName="any", Body=b"{}")
    assert answer["Body"].read() == b"invoked /endpoints/any/invocations"


# --- failures


@pytest.mark.parametrize(
    ("service", "backend", "method", "call", "arguments"),
    [
        ("ssm", SimpleSystemManagerBackend, "get_parameters", "get_parameters", {"Names": ["x"]}),
        ("s3", S3Backend, "list_buckets", "list_buckets", {}),
        ("cloudwatch", CloudWatchBackend, "describe_alarms", "describe_alarms", {}),
    ],
)
def test_an_exception_inside_moto_is_an_error_of_the_client_with_its_text(
    aws: EmbeddedAws,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    backend: type,
    method: str,
    call: str,
    arguments: dict[str, Any],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"boom in {service}")

    monkeypatch.setattr(backend, method, fail)
    with pytest.raises(ClientError) as failure:
        getattr(client(aws, service), call)(**arguments)
    error = failure.value.response
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert (error["Error"]["Code"], error["Error"]["Message"]) == (
        "EmbeddedAwsError",
        f"RuntimeError: boom in {service}",
    )
    assert f"RuntimeError: boom in {service}" in log.read_text()
    assert "Traceback" in log.read_text()


def test_an_api_that_moto_lacks_is_refused_by_its_name(aws: EmbeddedAws) -> None:
    with pytest.raises(ClientError, match="describe_type action has not been implemented"):
        client(aws, "cloudformation").describe_type(TypeName="AWS::S3::Bucket", Type="RESOURCE")


def test_nothing_listens_on_other_than_loopback(aws: EmbeddedAws) -> None:
    assert aws.url.startswith("http://localhost:")
    port = int(aws.url.rsplit(":", 1)[1])
    words = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    assert [
        address for address in words if address.endswith(f":{port:04X}") and address != f"0100007F:{port:04X}"
    ] == []
