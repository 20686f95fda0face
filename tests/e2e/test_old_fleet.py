"""The needs of the fleet that serves outlive it, and nothing else of its stack fails while it is in progress.

The embedded AWS deploys synthesised templates, in which something without effect stands for the custom resources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks, absent_model
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.conftest import templates

ACCOUNT, STACK = "123456789012", "triton-fleet-dev-sentences"
KEY = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
SUBNETS = [f"subnet-0000000{number}" for number in (1, 2, 3)]
NETWORK = "network: {{subnets: [subnet-00000001, {}], security_groups: [sg-00000001]}}\n"
VPC, OTHER_VPC = NETWORK.format("subnet-00000002"), NETWORK.format("subnet-00000003")
CAPTURE = "capture: {sample: 10%}\n"
OWN_IMAGE = f"""\
image:
  uri: 444455556666.dkr.ecr.us-east-1.amazonaws.com/detector
  digest: sha256:{0:064}
"""
OTHER_IMAGE = OWN_IMAGE.replace("detector", "classifier")
WITH_KEY = f"kms_key: {KEY}\n"
OTHER_KEY = WITH_KEY.replace("key/1", "key/2")
STREAMS = "container: {inference_type: generate_stream}\n"
INVOKER_KEYS = 'access: {invokers: ["arn:aws:iam::444455556666:role/search"]}\n'


@dataclass(frozen=True)
class Change:
    """Keys of the spec and of the environment, before and after."""

    before: str = ""
    after: str = ""
    environments: tuple[str, str] = ("", "")


CHANGES = {
    "a network is left out": Change(VPC),
    "another subnet": Change(VPC, OTHER_VPC),
    "a network is new": Change("", VPC),
    "capture is left out": Change(CAPTURE),
    "the own image is left out": Change(OWN_IMAGE),
    "another image": Change(OWN_IMAGE, OTHER_IMAGE),
    "Triton's metrics are left out": Change("", "metrics: {triton: false}\n"),
    "the key is left out": Change(CAPTURE, CAPTURE, (WITH_KEY, "")),
    "another key": Change(CAPTURE, CAPTURE, (WITH_KEY, OTHER_KEY)),
    "streams are left out": Change(STREAMS + INVOKER_KEYS, INVOKER_KEYS),
    "all at once": Change(VPC + CAPTURE + OWN_IMAGE, OTHER_IMAGE, (WITH_KEY, OTHER_KEY)),
}
QUICK = ("a network is left out", "all at once")


@dataclass
class Account:
    """An account in which the endpoint `sentences` is deployed by its template."""

    aws: EmbeddedAws
    host: RecordingHost
    folder: FleetFolder

    def __post_init__(self) -> None:
        self.stacks = Stacks(self.aws)
        ssm, s3 = client(self.aws, "ssm"), client(self.aws, "s3")
        for severity in ("warning", "critical"):
            arn = client(self.aws, "sns").create_topic(Name=severity)["TopicArn"]
            name = f"/triton-fleet/dev/alarm-topic/{severity}"
            ssm.put_parameter(Name=name, Value=arn, Type="String", Overwrite=True)
        ssm.put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String", Overwrite=True)
        s3.create_bucket(Bucket=f"triton-fleet-dev-{ACCOUNT}-us-east-1")

    def template(self, keys: str = "", environment: str = "") -> dict[str, Any]:
        """The endpoint's template; its model's data is published."""
        self.folder.environment(
            f"allowed_networks: {json.dumps([*SUBNETS, 'sg-00000001'])}\n"
            f'allowed_invokers: ["444455556666"]\nallowed_registries: ["444455556666"]\n{environment}'
        )
        environments = self.folder.root / "environments/dev.yaml"
        environments.write_text(environments.read_text().replace("111122223333", ACCOUNT))
        self.folder.spec(keys, base=SPEC.replace("g5", "c5"))
        self.folder.lock()
        template = dict(templates(self.folder)[STACK].to_json())
        for resource in template["Resources"].values():
            if resource["Type"].startswith("Custom::"):
                resource["Type"], resource["Properties"] = "AWS::CloudFormation::WaitConditionHandle", {}
            if resource["Type"] == "AWS::SageMaker::Model":
                url = resource["Properties"]["PrimaryContainer"]["ModelDataUrl"]
                bucket, _, key = url.removeprefix("s3://").partition("/")
                client(self.aws, "s3").put_object(Bucket=bucket, Key=key, Body=b"archive")
        return template

    def deploy(self, template: dict[str, Any]) -> str:
        """The status of its stack, which is made or updated."""
        body = dict(template)
        resources = body.pop("Resources")
        known_stack_names = {stack["StackName"] for stack in self.stacks.api.describe_stacks()["Stacks"]}
        return (self.stacks.update if STACK in known_stack_names else self.stacks.create)(
            STACK, resources, **body
        )

    def permissions(self) -> set[str]:
        """The statements of all roles of the stack, as IAM has them."""
        iam = client(self.aws, "iam")
        resources = self.stacks.api.describe_stack_resources(StackName=STACK)["StackResources"]
        roles = [
            resource["PhysicalResourceId"]
            for resource in resources
            if resource["ResourceType"] == "AWS::IAM::Role"
        ]
        return {
            json.dumps(statement, sort_keys=True)
            for role in roles
            for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]
            for statement in iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"][
                "Statement"
            ]
        }

    def permissions_at_service(self, template: dict[str, Any]) -> tuple[str, list[set[str]]]:
        """The status after a deploy, and what was granted each time that the endpoint was updated."""
        names: list[set[str]] = []
        self.host.serving_hook = lambda: names.append(self.permissions())
        try:
            return self.deploy(template), names
        finally:
            self.host.serving_hook = None


@pytest.fixture(scope="module")
def account(
    aws_and_host: tuple[EmbeddedAws, RecordingHost], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Account]:
    aws, host = aws_and_host
    yield Account(aws, host, FleetFolder(tmp_path_factory.mktemp("fleet")))


@pytest.mark.parametrize(
    "title",
    [pytest.param(change, marks=() if change in QUICK else pytest.mark.nightly) for change in CHANGES],
)
def test_the_old_fleet_and_the_new_one_may_do_what_they_need_until_the_update_is_over(
    account: Account, title: str
) -> None:
    change = CHANGES[title]
    before, after = (
        account.template(keys, environment)
        for keys, environment in zip((change.before, change.after), change.environments, strict=True)
    )
    assert account.deploy(before) in ("CREATE_COMPLETE", "UPDATE_COMPLETE")
    old = account.permissions()
    status, meanwhile = account.permissions_at_service(after)
    new = account.permissions()
    assert status == "UPDATE_COMPLETE"
    assert old != new
    assert meanwhile == [old | new]


def test_an_update_that_is_rolled_back_leaves_the_permissions_as_they_were(account: Account) -> None:
    before, after = account.template(VPC + CAPTURE), account.template(OTHER_VPC)
    account.deploy(before)
    old = account.permissions()
    break_resource(after, "Check")
    status, (update, rollback) = account.permissions_at_service(after)
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    assert update == rollback > old
    assert account.permissions() == old


@pytest.mark.parametrize("part", ["Alarms", "Dashboard", "Queries", "Invoker"])
def test_what_fails_beside_the_endpoint_leaves_none_in_progress(account: Account, part: str) -> None:
    before, after = (
        account.template(f"environment: {{PART: {part}}}\n"),
        account.template(INVOKER_KEYS + CAPTURE),
    )
    account.deploy(before)
    break_resource(after, part)
    assert account.permissions_at_service(after) == ("UPDATE_ROLLBACK_COMPLETE", [])
    operation: list[tuple[str, str]] = []
    for id, status, reason in account.stacks.events(STACK):
        operation = [] if reason == "User Initiated" else [*operation, (id, status)]
    assert not [item for item in operation if item[0].startswith("Endpoint")]


def break_resource(template: dict[str, Any], part: str) -> None:
    """Let the last resource whose logical id begins so fail; it needs what it needed."""
    *_, id = [resource for resource in template["Resources"] if resource.startswith(part)]
    template["Resources"][id] |= {"Type": "AWS::SageMaker::Model", "Properties": absent_model()["Properties"]}
