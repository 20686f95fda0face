"""Permissions of a role of the embedded IAM follow from all of its policies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fleet_emulator.permissions import is_allowed, may_put_metrics
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks

PUT, NAMESPACE = "cloudwatch:PutMetricData", "/aws/sagemaker/Endpoints"
BUCKET = "arn:aws:s3:::archives"
ALLOW: dict[str, Any] = {"Effect": "Allow", "Action": PUT, "Resource": "*"}
DENY = {**ALLOW, "Effect": "Deny"}
OTHER_STATEMENT = {**ALLOW, "Action": "s3:*"}
TRUST = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "sagemaker.amazonaws.com"}}


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def under(operator: str, namespace: object, key: str = "cloudwatch:namespace") -> dict[str, Any]:
    return {"Condition": {operator: {key: namespace}}}


@pytest.fixture(scope="module")
def iam(aws: EmbeddedAws) -> Any:
    return client(aws, "iam")


def role(iam: Any, name: str, *documents: dict[str, Any], **options: str) -> str:
    answer = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(policy(TRUST)), **options)
    for number, document in enumerate(documents):
        iam.put_role_policy(RoleName=name, PolicyName=str(number), PolicyDocument=json.dumps(document))
    return str(answer["Role"]["Arn"])


@pytest.mark.parametrize(
    ("statements", "is_allowed"),
    [
        ([OTHER_STATEMENT], False),
        ([ALLOW], True),
        ([{**ALLOW, "Action": "cloudwatch:*"}], True),
        ([{**ALLOW, "Action": ["s3:GetObject", "CloudWatch:putmetricdata"]}], True),
        ([{**ALLOW, "Action": "cloudwatch:PutMetric"}], False),
        ([{"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}], True),
        ([{"Effect": "Allow", "NotAction": "cloudwatch:*", "Resource": "*"}], False),
        ([{**ALLOW, "Resource": BUCKET}], False),
        ([{"Effect": "Allow", "Action": PUT, "NotResource": BUCKET}], True),
        ([ALLOW | under("StringEquals", NAMESPACE)], True),
        ([ALLOW | under("StringEquals", NAMESPACE, "CloudWatch:Namespace")], True),
        ([ALLOW | under("StringEquals", "TritonFleet/a")], False),
        ([ALLOW | under("StringEquals", "/aws/sagemaker/*")], False),
        ([ALLOW | under("StringLike", ["/aws/sagemaker/*", "TritonFleet/a"])], True),
        ([ALLOW | under("StringLike", "/AWS/SageMaker/*")], False),
        ([ALLOW | under("StringLike", "/aws/sagemaker/Endpoint?")], True),
        ([ALLOW | under("StringLike", "/aws/[s]agemaker/*")], False),
        ([ALLOW | under("StringNotEquals", NAMESPACE)], False),
        ([ALLOW | under("StringNotLike", "TritonFleet/*")], True),
        ([ALLOW, DENY], False),
        ([ALLOW, DENY | under("StringEquals", NAMESPACE)], False),
        ([ALLOW, DENY | under("StringNotLike", "TritonFleet/*")], False),
        ([ALLOW, DENY | under("StringEquals", "TritonFleet/a")], True),
    ],
)
def test_a_statement_holds_by_action_resource_and_namespace_and_a_denial_wins(
    iam: Any, statements: list[dict[str, Any]], is_allowed: bool
) -> None:
    name = f"role-{len(iam.list_roles()['Roles'])}"
    assert may_put_metrics(role(iam, name, policy(*statements)), NAMESPACE) is is_allowed


def test_what_one_policy_allows_another_denies(iam: Any) -> None:
    arn = role(iam, "two", policy(ALLOW), {"Version": "2012-10-17", "Statement": DENY})
    assert not may_put_metrics(arn, NAMESPACE)


@pytest.mark.parametrize("arn", ["", "any", "arn:aws:iam::123456789012:role/absent"])
def test_a_role_that_does_not_exist_may_do_nothing(aws: EmbeddedAws, arn: str) -> None:
    assert not may_put_metrics(arn, NAMESPACE)


def test_a_condition_on_what_is_not_known_of_the_call_neither_refuses_nor_denies(iam: Any) -> None:
    network = under("StringEquals", "vpc-1", "aws:SourceVpc")
    insecure = {"Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    assert may_put_metrics(role(iam, "unknown", policy(ALLOW | network, DENY | insecure)), NAMESPACE)


@pytest.mark.parametrize(
    ("operator", "allowed_values"),
    [("StringLike", False), ("StringNotLike", True), ("StringLikeIfExists", True)],
)
def test_a_key_that_the_call_does_not_have_meets_only_what_asks_for_its_absence(
    iam: Any, operator: str, allowed_values: bool
) -> None:
    statement = {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": BUCKET}
    arn = role(iam, operator, policy(statement | under(operator, "endpoints/*", "s3:prefix")))
    assert is_allowed(arn, "s3:ListBucket", {"s3:prefix": None}, resource=BUCKET) is allowed_values


def test_a_boundary_has_to_allow_it_too_where_the_embedded_iam_has_it(iam: Any) -> None:
    known_answer = iam.create_policy(PolicyName="known", PolicyDocument=json.dumps(policy(OTHER_STATEMENT)))
    absent = "arn:aws:iam::123456789012:policy/absent"
    bounded_role = role(iam, "bounded", policy(ALLOW), PermissionsBoundary=known_answer["Policy"]["Arn"])
    assert not may_put_metrics(bounded_role, NAMESPACE)
    assert may_put_metrics(role(iam, "unbounded", policy(ALLOW), PermissionsBoundary=absent), NAMESPACE)


def test_a_managed_policy_counts_in_its_default_version(iam: Any) -> None:
    managed_arn = iam.create_policy(PolicyName="managed", PolicyDocument=json.dumps(policy(OTHER_STATEMENT)))[
        "Policy"
    ]["Arn"]
    arn = role(iam, "managing")
    iam.attach_role_policy(RoleName="managing", PolicyArn=managed_arn)
    assert not may_put_metrics(arn, NAMESPACE)
    iam.create_policy_version(
        PolicyArn=managed_arn, PolicyDocument=json.dumps(policy(ALLOW)), SetAsDefault=True
    )
    assert may_put_metrics(arn, NAMESPACE)


def test_an_update_of_a_stack_changes_what_its_role_may_do(aws: EmbeddedAws, iam: Any) -> None:
    def resources(**properties: Any) -> dict[str, Any]:
        attachment = {"PolicyName": "p", "Roles": [{"Ref": "Role"}], "PolicyDocument": policy(ALLOW)}
        trust = {"AssumeRolePolicyDocument": policy(TRUST), "RoleName": "stacked", **properties}
        return {
            "Policy": {"Type": "AWS::IAM::Policy", "Properties": attachment},
            "Role": {"Type": "AWS::IAM::Role", "Properties": trust},
        }

    boundary = iam.create_policy(PolicyName="none", PolicyDocument=json.dumps(policy(OTHER_STATEMENT)))
    stacks, arn = Stacks(aws), "arn:aws:iam::123456789012:role/stacked"
    assert stacks.create("roles", resources()) == "CREATE_COMPLETE"
    assert may_put_metrics(arn, NAMESPACE)
    bounded_resources = resources(PermissionsBoundary=boundary["Policy"]["Arn"])
    assert stacks.update("roles", bounded_resources) == "UPDATE_COMPLETE"
    assert not may_put_metrics(arn, NAMESPACE)
    assert stacks.update("roles", resources()) == "UPDATE_COMPLETE"
    assert may_put_metrics(arn, NAMESPACE)
    without = {"Role": resources()["Role"]}
    assert stacks.update("roles", without) == "UPDATE_COMPLETE"
    assert not may_put_metrics(arn, NAMESPACE)
