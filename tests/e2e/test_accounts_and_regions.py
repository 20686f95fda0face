"""Endpoints of one name in two accounts and regions of the local fleet: nothing of one is the other's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import ROOT, FleetFolder
from tests.support.zoo import ENVIRONMENT, IMAGE, pack_files, times
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.local.metrics.ask import ask_to_publish
from triton_fleet.local.state import LocalState, Supervisor
from triton_fleet.local.status import ask_status
from triton_fleet.local.supervisor import start_local_fleet
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.project.project import open_project

pytestmark = pytest.mark.triton

NAME = "zoo"


@dataclass(frozen=True)
class Rehearsal:
    """One environment's account and region, with an endpoint whose model multiplies by `factor`."""

    supervisor: Supervisor
    environment: str
    account: str
    region: str
    factor: int

    @cached_property
    def session(self) -> boto3.Session:
        """With the keys of the local fleet, or of a role of another account that they assume."""
        own = local_session(self.region, self.supervisor.keys)
        if self.account == self.supervisor.account:
            return own
        role = f"arn:aws:iam::{self.account}:role/deploys"
        keys = own.client("sts", endpoint_url=self.supervisor.url).assume_role(
            RoleArn=role, RoleSessionName="test"
        )["Credentials"]
        return boto3.Session(
            keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"], region_name=self.region
        )

    def client(self, service: str) -> Any:
        made_client: Any = self.session.client
        return made_client(service, endpoint_url=self.supervisor.url)

    def deploy(self) -> None:
        bucket = f"models-{self.account}-{self.region}"
        bucket_place = {} if self.region == "us-east-1" else {"LocationConstraint": self.region}
        options = {"CreateBucketConfiguration": bucket_place} if bucket_place else {}
        s3, sagemaker = self.client("s3"), self.client("sagemaker")
        s3.create_bucket(Bucket=bucket, **options)
        s3.put_object(Bucket=bucket, Key="zoo.tar.gz", Body=pack_files(times(self.factor)))
        container = {
            "Image": IMAGE,
            "ModelDataUrl": f"s3://{bucket}/zoo.tar.gz",
            "Environment": {**ENVIRONMENT, "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "times"},
        }
        statement = {"Effect": "Allow", "Action": "cloudwatch:PutMetricData", "Resource": "*"}
        iam, role = self.client("iam"), f"serves-{self.environment}"
        arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_role_policy(RoleName=role, PolicyName="metrics", PolicyDocument=document)
        sagemaker.create_model(ModelName=NAME, ExecutionRoleArn=arn, PrimaryContainer=container)
        variant = {"VariantName": "AllTraffic", "ModelName": NAME, "InstanceType": "ml.c5.large"}
        sagemaker.create_endpoint_config(
            EndpointConfigName=NAME, ProductionVariants=[{**variant, "InitialInstanceCount": 1}]
        )
        tags = [{"Key": "triton-fleet:environment", "Value": self.environment}]
        sagemaker.create_endpoint(EndpointName=NAME, EndpointConfigName=NAME, Tags=tags)
        status = sagemaker.describe_endpoint(EndpointName=NAME)
        assert status["EndpointStatus"] == "InService", status.get("FailureReason")

    def invoke(self, *x: float) -> list[float]:
        """The model's answer to numbers; two are right."""
        tensor = {"name": "x", "shape": [1, len(x)], "datatype": "FP32", "data": list(x)}
        answer = self.client("sagemaker-runtime").invoke_endpoint(
            EndpointName=NAME,
            ContentType="application/json",
            Body=json.dumps({"model_name": "times", "inputs": [tensor]}),
        )
        return list(json.loads(answer["Body"].read())["outputs"][0]["data"])

    def refusal(self, *x: float) -> dict[str, Any]:
        with pytest.raises(ClientError) as caught:
            self.invoke(*x)
        return dict(caught.value.response)

    def metric_names(self, namespace: str) -> set[str]:
        """The names of all metrics of the endpoint's namespace."""
        return {
            metric["MetricName"]
            for metric in self.client("cloudwatch").list_metrics(Namespace=namespace)["Metrics"]
        }


@dataclass(frozen=True)
class RehearsalPair:
    """The local fleet with one endpoint in its own account and region, and one of the same name elsewhere."""

    state: LocalState
    supervisor: Supervisor
    local: Rehearsal
    prod: Rehearsal

    @property
    def rehearsals(self) -> tuple[Rehearsal, Rehearsal]:
        return self.local, self.prod

    @property
    def between(self) -> tuple[Rehearsal, Rehearsal]:
        """The account of one in the region of the other, where no endpoint is."""
        return (
            Rehearsal(self.supervisor, "", self.local.account, self.prod.region, 0),
            Rehearsal(self.supervisor, "", self.prod.account, self.local.region, 0),
        )


@pytest.fixture(scope="module")
def rehearsals(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RehearsalPair]:
    folder = FleetFolder(tmp_path_factory.mktemp("apart"))
    folder.write("environments/local.yaml", (ROOT / "environments/local.yaml").read_text())
    state, environment = LocalState(folder.root), open_project(folder.root, "local").environment
    with ExitStack() as ends:
        url = start_local_fleet(state, environment, KEYS, ends)
        account, region = environment.account, environment.region
        supervisor = Supervisor(pid=os.getpid(), url=url, account=account, region=region, keys=KEYS)
        deployments = RehearsalPair(
            state,
            supervisor,
            Rehearsal(supervisor, "local", account, region, 2),
            Rehearsal(supervisor, "prod", "210987654321", "eu-west-1", 3),
        )
        with ThreadPoolExecutor() as pool:  # a Triton takes seconds to start
            list(pool.map(Rehearsal.deploy, deployments.rehearsals))
        yield deployments


def test_each_is_answered_by_its_own_model(rehearsals: RehearsalPair) -> None:
    assert [rehearsal.invoke(1, 2) for rehearsal in rehearsals.rehearsals] == [[2, 4], [3, 6]]


def test_it_answers_only_in_its_own_account_and_its_own_region(rehearsals: RehearsalPair) -> None:
    for rehearsal in rehearsals.between:
        message = f"Endpoint {NAME} of account {rehearsal.account} not found."
        assert rehearsal.refusal(1, 2)["Error"]["Message"] == message


def test_the_error_of_a_model_names_the_log_of_its_own_account_and_region(rehearsals: RehearsalPair) -> None:
    group = f"log-group:/aws/sagemaker/Endpoints/{NAME}"
    for rehearsal in rehearsals.rehearsals:
        refusal = rehearsal.refusal(1, 2, 3)
        assert refusal["LogStreamArn"] == f"arn:aws:logs:{rehearsal.region}:{rehearsal.account}:{group}"
        assert f"in account {rehearsal.account} for more information" in refusal["Error"]["Message"]


def test_the_metrics_of_calls_and_of_triton_are_in_the_account_and_region_of_the_endpoint(
    rehearsals: RehearsalPair,
) -> None:
    for rehearsal in rehearsals.rehearsals:
        rehearsal.invoke(1, 2)
    ask_to_publish(rehearsals.supervisor)
    for item in rehearsals.rehearsals:
        assert "Invocations" in item.metric_names("AWS/SageMaker")
        assert "nv_inference_count" in item.metric_names("TritonFleet/zoo")
    for entry in rehearsals.between:
        assert entry.metric_names("AWS/SageMaker") | entry.metric_names("TritonFleet/zoo") == set()


def test_the_status_names_account_region_and_log_of_each(rehearsals: RehearsalPair) -> None:
    rows = {
        (endpoint.account, endpoint.region, endpoint.log)
        for endpoint in ask_status(rehearsals.supervisor).endpoints
    }
    assert rows == {("123456789012", "us-east-1", "zoo"), ("210987654321", "eu-west-1", "prod/zoo")}


def test_each_environment_has_a_log_of_its_own(rehearsals: RehearsalPair) -> None:
    logs = rehearsals.state.logs()
    for name, item in (("zoo", rehearsals.local), ("prod/zoo", rehearsals.prod)):
        served = [line for line in logs[name].read_text().splitlines() if line.startswith("--- zoo serves")]
        assert served == [f"--- zoo serves s3://models-{item.account}-{item.region}/zoo.tar.gz"]


def test_deleting_one_leaves_the_other_running(rehearsals: RehearsalPair) -> None:
    rehearsals.prod.client("sagemaker").delete_endpoint(EndpointName=NAME)
    assert "not found" in rehearsals.prod.refusal(1, 2)["Error"]["Message"]
    assert rehearsals.local.invoke(1, 2) == [2, 4]
