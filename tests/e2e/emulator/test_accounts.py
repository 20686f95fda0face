"""Accounts of the embedded AWS: the keys that sign a request decide whose resources it finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.functions import ROLE, function

OTHER_ACCOUNT = "210987654321"
HANDLER_CODE = """\
def handler(event, context, client, environ):
    return client("sts").get_caller_identity()["Account"]
"""


@pytest.fixture
def other_session(aws: EmbeddedAws) -> boto3.Session:
    """A session with a role of another account."""
    given_credentials = client(aws, "sts").assume_role(
        RoleArn=f"arn:aws:iam::{OTHER_ACCOUNT}:role/deploy", RoleSessionName="test"
    )["Credentials"]
    keys = (
        given_credentials["AccessKeyId"],
        given_credentials["SecretAccessKey"],
        given_credentials["SessionToken"],
    )
    return boto3.Session(*keys, region_name="us-east-1")


def other_client(aws: EmbeddedAws, other_session: boto3.Session, service: str) -> Any:
    make: Any = other_session.client
    return make(service, endpoint_url=aws.url)


def test_a_role_of_another_account_leads_into_that_account(
    aws: EmbeddedAws, other_session: boto3.Session
) -> None:
    assert other_client(aws, other_session, "sts").get_caller_identity()["Account"] == OTHER_ACCOUNT
    other_client(aws, other_session, "sns").create_topic(Name="of-the-other")
    (topic,) = other_client(aws, other_session, "sns").list_topics()["Topics"]
    assert topic["TopicArn"] == f"arn:aws:sns:us-east-1:{OTHER_ACCOUNT}:of-the-other"
    assert topic not in client(aws, "sns").list_topics()["Topics"]


def test_an_account_that_a_variable_or_a_header_names_is_not_believed(
    aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_ACCOUNT_ID", OTHER_ACCOUNT)
    sns = client(aws, "sns")
    sns.meta.events.register(
        "before-call", lambda params, **_: params["headers"].update({"x-moto-account-id": OTHER_ACCOUNT})
    )
    assert ":123456789012:" in sns.create_topic(Name="of-the-first")["TopicArn"]


def test_a_function_acts_in_its_own_account(aws: EmbeddedAws, other_session: boto3.Session) -> None:
    declared_values = {"Role": ROLE, "F": function({"ZipFile": HANDLER_CODE}, "index.handler")}
    stacks = other_client(aws, other_session, "cloudformation")
    stacks.create_stack(StackName="who", TemplateBody=json.dumps({"Resources": declared_values}))
    stacks.get_waiter("stack_create_complete").wait(StackName="who", WaiterConfig={"Delay": 1})
    (name,) = (
        stack_resource["PhysicalResourceId"]
        for stack_resource in stacks.describe_stack_resources(StackName="who")["StackResources"]
        if stack_resource["LogicalResourceId"] == "F"
    )
    answer = other_client(aws, other_session, "lambda").invoke(FunctionName=name, Payload=b"{}")
    assert json.loads(answer["Payload"].read()) == OTHER_ACCOUNT


def test_a_bucket_of_another_account_is_refused(aws: EmbeddedAws, other_session: boto3.Session) -> None:
    theirs, ours = other_client(aws, other_session, "s3"), client(aws, "s3")
    theirs.create_bucket(Bucket="of-the-other")
    theirs.put_object(Bucket="of-the-other", Key="model", Body=b"reviewed")
    calls: list[Callable[[], object]] = [
        lambda: ours.get_object(Bucket="of-the-other", Key="model"),
        lambda: ours.put_object(Bucket="of-the-other", Key="model", Body=b"replaced"),
        lambda: ours.list_objects_v2(Bucket="of-the-other"),
        lambda: ours.delete_object(Bucket="of-the-other", Key="model"),
        lambda: ours.delete_bucket(Bucket="of-the-other"),
    ]
    for call in calls:
        with pytest.raises(ClientError) as refusal:
            call()
        assert refusal.value.response["Error"]["Code"] == "AccessDenied"
    assert theirs.get_object(Bucket="of-the-other", Key="model")["Body"].read() == b"reviewed"


@pytest.mark.parametrize(
    "principal", ["*", {"AWS": "123456789012"}, {"AWS": ["arn:aws:iam::123456789012:root"]}]
)
def test_a_bucket_policy_opens_it_to_the_accounts_that_it_names(
    aws: EmbeddedAws, other_session: boto3.Session, principal: object
) -> None:
    theirs = other_client(aws, other_session, "s3")
    theirs.create_bucket(Bucket="open-to-one")
    theirs.put_object(Bucket="open-to-one", Key="model", Body=b"shared")
    statement = {"Effect": "Allow", "Principal": principal, "Action": "s3:*", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    theirs.put_bucket_policy(Bucket="open-to-one", Policy=json.dumps(policy))
    assert client(aws, "s3").get_object(Bucket="open-to-one", Key="model")["Body"].read() == b"shared"
    statement["Principal"] = {"AWS": "333344445555"}
    theirs.put_bucket_policy(Bucket="open-to-one", Policy=json.dumps(policy))
    with pytest.raises(ClientError):
        client(aws, "s3").get_object(Bucket="open-to-one", Key="model")
