"""Accounts of the embedded AWS: the keys that sign a request decide whose resources it finds."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest

from fleet_emulator.server import EmbeddedAws
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.functions import ROLE, function

OTHER = "210987654321"
WHO = """\
def handler(event, context, client, environ):
    return client("sts").get_caller_identity()["Account"]
"""


@pytest.fixture
def other(aws: EmbeddedAws) -> boto3.Session:
    """A session with a role of another account."""
    given = client(aws, "sts").assume_role(
        RoleArn=f"arn:aws:iam::{OTHER}:role/deploy", RoleSessionName="test"
    )["Credentials"]
    keys = given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]
    return boto3.Session(*keys, region_name="us-east-1")


def other_client(aws: EmbeddedAws, other: boto3.Session, service: str) -> Any:
    make: Any = other.client
    return make(service, endpoint_url=aws.url)


def test_a_role_of_another_account_leads_into_that_account(aws: EmbeddedAws, other: boto3.Session) -> None:
    assert other_client(aws, other, "sts").get_caller_identity()["Account"] == OTHER
    other_client(aws, other, "sns").create_topic(Name="of-the-other")
    (topic,) = other_client(aws, other, "sns").list_topics()["Topics"]
    assert topic["TopicArn"] == f"arn:aws:sns:us-east-1:{OTHER}:of-the-other"
    assert topic not in client(aws, "sns").list_topics()["Topics"]


def test_an_account_that_a_variable_or_a_header_names_is_not_believed(
    aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_ACCOUNT_ID", OTHER)
    sns = client(aws, "sns")
    sns.meta.events.register(
        "before-call", lambda params, **_: params["headers"].update({"x-moto-account-id": OTHER})
    )
    assert ":123456789012:" in sns.create_topic(Name="of-the-first")["TopicArn"]


def test_a_function_acts_in_its_own_account(aws: EmbeddedAws, other: boto3.Session) -> None:
    declared = {"Role": ROLE, "F": function({"ZipFile": WHO}, "index.handler")}
    stacks = other_client(aws, other, "cloudformation")
    stacks.create_stack(StackName="who", TemplateBody=json.dumps({"Resources": declared}))
    stacks.get_waiter("stack_create_complete").wait(StackName="who", WaiterConfig={"Delay": 1})
    (name,) = (
        each["PhysicalResourceId"]
        for each in stacks.describe_stack_resources(StackName="who")["StackResources"]
        if each["LogicalResourceId"] == "F"
    )
    answer = other_client(aws, other, "lambda").invoke(FunctionName=name, Payload=b"{}")
    assert json.loads(answer["Payload"].read()) == OTHER
