"""An account as `fleet deploy` leaves it, in an embedded AWS, and `fleet preflight` in front of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, cast

import pytest
from moto.awslambda.models import lambda_backends
from moto.core.base_backend import BackendDict
from moto.servicequotas.models import servicequotas_backends

from fleet_emulator.functions.backend import EmbeddedLambda
from fleet_emulator.quotas.backend import EmbeddedServiceQuotas
from fleet_emulator.server import EmbeddedAws
from tests.support.deployment import ACCOUNT, DEPLOYMENT, REGION
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.scaling import target
from tests.support.embedded_app.stacks import TOPIC, Stacks, endpoint
from tests.support.embedded_keys import KEYS
from tests.support.faulty_s3 import Answer, FaultyS3, Request, RequestMatch, faulty_s3
from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from tests.support.running_aws import running_aws
from triton_fleet.aws.access import Access, embedded_access
from triton_fleet.cli import preflight as command
from triton_fleet.cli.commands import app
from triton_fleet.exits import run_to_exit
from triton_fleet.spec.deployment import Deployment

BUCKET = f"triton-fleet-dev-{ACCOUNT}-{REGION}"
OF_TYPE, TOTAL_QUOTA = "ml.g5.xlarge for endpoint usage", "Number of instances across active endpoints"
CODES = {OF_TYPE: "L-1928E07B", TOTAL_QUOTA: "L-7A3DF611", "ml.g6.xlarge for endpoint usage": "L-6821E9A1"}
STACK = "triton-fleet-dev-sentences"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
DIGEST = f"sha256:{sha256(b'25.04-py3').hexdigest()}"
"""The embedded registry's stand-in of its digest."""
ENVIRONMENT = f'environment: dev\naccount: "{ACCOUNT}"\nregion: {REGION}\n'


@dataclass(frozen=True)
class PreflightReport:
    """How `fleet preflight` ended, and what it said."""

    code: int
    lines: list[str]
    findings: str

    def of(self, check: str) -> list[str]:
        """The lines about one thing, without its name."""
        return [line.replace(f" {check}: ", " ") for line in self.lines if line[2:].startswith(f"{check}: ")]


@dataclass(frozen=True)
class WatchedAws:
    """An embedded AWS behind a proxy, and its clients, which take a while to make."""

    aws: EmbeddedAws
    host: RecordingHost
    proxy: FaultyS3
    clients: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def access(self) -> Access:
        """As its user."""
        return embedded_access(DEPLOYMENT, self.proxy.url, KEYS)

    def client(self, service: str) -> Any:
        """Past the proxy."""
        if service not in self.clients:
            self.clients[service] = client(self.aws, service)
        return self.clients[service]


@dataclass(frozen=True)
class PreparedAccount:
    """A fleet of one endpoint, and the account that its environment `dev` names."""

    folder: FleetFolder
    watch: WatchedAws
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    @classmethod
    def empty(
        cls, root: Path, aws: WatchedAws, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> Self:
        """An account that nobody has used yet, and a fleet for it."""
        folder = FleetFolder(root)
        folder.spec()
        folder.write("environments/dev.yaml", ENVIRONMENT)
        folder.write("locks/dev/sentences.lock.yaml", LOCK)
        (root / "repository").mkdir()
        BackendDict.reset()
        aws.proxy.forget()
        patch.chdir(root)
        return cls(folder, aws, patch, capture)

    @property
    def host(self) -> RecordingHost:
        return self.watch.host

    @property
    def proxy(self) -> FaultyS3:
        return self.watch.proxy

    @property
    def stacks(self) -> Stacks:
        return Stacks(self.watch.aws)

    def client(self, service: str) -> Any:
        return self.watch.client(service)

    def prepare(self) -> None:
        """Needs of endpoints in an account: bootstrap, Foundation, bucket, room for instances."""
        self.bootstrap()
        self.stacks.create("triton-fleet-dev", {"Topic": TOPIC})
        self.client("s3").create_bucket(Bucket=BUCKET)
        self.publish()
        self.quota(OF_TYPE, 20)
        self.quota(TOTAL_QUOTA, 100)

    def bootstrap(self, version: int = 31) -> None:
        self.stacks.create("CDKToolkit", {"Topic": TOPIC})
        name = "/cdk-bootstrap/hnb659fds/version"
        self.client("ssm").put_parameter(Name=name, Value=str(version), Type="String")

    def publish(self) -> None:
        """The archives that the locks name."""
        for artifact in self.folder.resolve().archives:
            self.put(artifact.key, artifact.digest)

    def put(self, key: str, digest: str) -> None:
        self.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"x", Metadata={"tar-digest": digest})

    def quota(self, name: str, value: float) -> None:
        _service_quotas().put("sagemaker", CODES[name], name, value)

    def concurrent_executions(self, count: int) -> None:
        """How many functions Lambda runs at once."""
        cast("EmbeddedLambda", lambda_backends[ACCOUNT][REGION]).concurrent_executions = count

    def further_quotas(self, count: int) -> None:
        """So many that nobody asks for."""
        for number in range(count):
            _service_quotas().put("sagemaker", f"L-{count}-{number}", f"further {number}", 1)

    def deploy(
        self, name: str = "sentences", *, stack: str = STACK, count: int = 1, has_scaling: bool = False
    ) -> None:
        """An endpoint with an operator's alarm and one of its rollout."""
        resources = endpoint(name, data=self._data())
        resources["Config"]["Properties"]["ProductionVariants"][0]["InitialInstanceCount"] = count
        resources["Operators"] = alarm("errors", {"EndpointName": name})
        resources["Rollback"] = alarm("rollout", {"EndpointName": name, "EndpointConfigName": "any"})
        if has_scaling:
            bounds = {"MinCapacity": 1, "MaxCapacity": 8}
            resources["Scaled"] = {
                "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
                "Properties": {**target(name), **bounds},
                "DependsOn": "Endpoint",
            }
        assert self.stacks.create(stack, resources) == "CREATE_COMPLETE"

    def status(self, status: str) -> None:
        """Let DescribeEndpoint say another status."""

        self.change(
            lambda request: is_call(request, "DescribeEndpoint"),
            lambda body: json.dumps(json.loads(body) | {"EndpointStatus": status}).encode(),
        )

    def stack_status(self, stack: str, status: str) -> None:
        """Let DescribeStacks say another status of a stack that is complete."""
        self.change(
            lambda request: f"StackName={stack}&".encode() in request.body + b"&",
            lambda body: body.replace(b"<StackStatus>CREATE_COMPLETE", f"<StackStatus>{status}".encode()),
        )

    def deny(self, target: str, action: str) -> None:
        """Refuse an API call, by the end of its target, as IAM refuses it."""
        words = f"User: arn:aws:iam::{ACCOUNT}:user/any is not authorized to perform: {action} on resource: *"
        self.refuse(target, "AccessDeniedException", words)

    def refuse(self, target: str, code: str, message: str) -> None:
        """Answer an API call, by the end of its target, with an error."""
        self.answer(target, {"__type": code, "message": message}, status=400)

    def refuse_ec2(self, operation: str) -> None:
        """Refuse a call of EC2, in its protocol, as IAM refuses it."""
        words = (
            f"You are not authorized to perform this operation. User: arn:aws:iam::{ACCOUNT}:user/any is not"
        )
        xml = (
            "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>"
            f"{words} authorized to perform: ec2:{operation}</Message></Error></Errors></Response>"
        )
        answer = Answer(403, [("Content-Type", "text/xml")], xml.encode())
        self.proxy.change_answers(lambda request: is_ec2_call(request, operation), lambda _: answer)

    def answer(self, target: str, body: object, *, status: int = 200) -> None:
        """Answer an API call, by the end of its target, with something else."""
        said_answer = Answer(
            status, [("Content-Type", "application/x-amz-json-1.1")], json.dumps(body).encode()
        )
        self.proxy.change_answers(lambda request: is_call(request, target), lambda _: said_answer)

    def change(self, expected_value: RequestMatch, change: Callable[[bytes], bytes]) -> None:
        """Let what is answered to some requests have another body."""
        self.proxy.change_answers(
            expected_value, lambda answer: Answer(answer.status, answer.headers, change(answer.body))
        )

    def preflight(self, *arguments: str) -> PreflightReport:
        """`fleet preflight --env dev ARGUMENTS`, by somebody whose credentials are known."""
        self.patch.setattr(command, "access_to", lambda project, _profile: self._access(project.deployment))
        return self.preflight_by_settings(*arguments)

    def preflight_by_settings(self, *arguments: str) -> PreflightReport:
        """The same by the credentials that the variables of AWS say, which takes a second to read them all."""
        code = 0
        try:
            run_to_exit(lambda: app(["preflight", "--env", "dev", *arguments], standalone_mode=False))
        except SystemExit as exit:
            code = int(exit.code or 0)
        output = self.capture.readouterr()
        return PreflightReport(code, output.out.splitlines(), output.err)

    def _access(self, deployment: Deployment) -> Access:
        """The clients of all tests, for the environment as it is in this one."""
        access = copy(self.watch.access)
        access.deployment = deployment
        return access

    def _data(self) -> str:
        (artifact, *_) = self.folder.resolve().archives
        return f"s3://{BUCKET}/{artifact.key}"


def _service_quotas() -> EmbeddedServiceQuotas:
    return cast("EmbeddedServiceQuotas", servicequotas_backends[ACCOUNT][REGION])


def is_call(request: Request, target: str) -> bool:
    return request.headers.get("X-Amz-Target", "").endswith(f".{target}")


def is_ec2_call(request: Request, operation: str) -> bool:
    return f"Action={operation}&".encode() in request.body + b"&"


def alarm(name: str, dimensions: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmName": f"sentences-{name}",
            "AlarmDescription": f"{name} of the endpoint",
            "Namespace": "AWS/SageMaker",
            "MetricName": "Invocation5XXErrors",
            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
            "Statistic": "Average",
            "Period": 60,
            "EvaluationPeriods": 1,
            "Threshold": 0.1,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "notBreaching",
        },
    }


@contextmanager
def watched_aws() -> Iterator[WatchedAws]:
    """An embedded AWS behind a proxy."""
    host = RecordingHost()
    with running_aws(host) as aws, faulty_s3(aws.url) as proxy:
        yield WatchedAws(aws, host, proxy)


def second_spec(folder: FleetFolder, name: str, keys: str = "") -> None:
    """Another endpoint of the fleet, with its lock."""
    folder.spec(keys, name=name, base=SPEC.replace("endpoint: sentences", f"endpoint: {name}"))
    folder.write(f"locks/dev/{name}.lock.yaml", LOCK.replace("endpoint: sentences", f"endpoint: {name}"))
