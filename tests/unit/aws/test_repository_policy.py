"""Permissions that the policy of another account's repository gives the roles of an account."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.repository_policy import PULL, RolePull, lets_roles_pull, role_pull

ACCOUNT, OWNER = "111122223333", "444455556666"
ROOT = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
CONDITION = {"Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1"}}}
IMAGE = image_reference(f"{OWNER}.dkr.ecr.us-east-1.amazonaws.com/team/triton@sha256:{1:064}")


def policy(**changes: Any) -> str:
    statement = {"Effect": "Allow", "Principal": ROOT, "Action": list(PULL), **changes}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Principal": "*"},
        {"Principal": {"AWS": [ACCOUNT, "777788889999"]}},
        {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:role/serving"}},
        {"Action": "ecr:*"},
        {"Action": ["ecr:Batch*", "ecr:getdownloadurlforlayer"]},
    ],
)
def test_roles_may_pull(changes: dict[str, Any]) -> None:
    assert lets_roles_pull(policy(**changes), ACCOUNT)


@pytest.mark.parametrize(
    "changes",
    [
        {"Effect": "Deny"},
        {"Principal": {"AWS": "arn:aws:iam::777788889999:root"}},
        {"Principal": {"Service": "codebuild.amazonaws.com"}},
        {"Action": list(PULL[:2])},
        CONDITION,
        {"Principal": None, "Action": None},
    ],
)
def test_roles_may_not_pull_or_not_for_certain(changes: dict[str, Any]) -> None:
    assert not lets_roles_pull(policy(**changes), ACCOUNT)


@pytest.mark.parametrize("text", ["", "[]", '{"Statement": "x"}', "{" * 1000])
def test_what_is_no_policy_lets_nobody(text: str) -> None:
    assert not lets_roles_pull(text, ACCOUNT)


def test_a_policy_that_may_not_be_read_leaves_it_open() -> None:
    ecr: Any = boto3.Session("nobody", "nothing", region_name="us-east-1").client("ecr")
    request = {"registryId": OWNER, "repositoryName": "team/triton"}
    with Stubber(ecr) as stubber:
        stubber.add_client_error("get_repository_policy", "AccessDeniedException", expected_params=request)
        stubber.add_response("get_repository_policy", {"policyText": policy()}, request)
        stubber.add_response("get_repository_policy", {"policyText": policy(Effect="Deny")}, request)
        stubber.add_response("get_repository_policy", {"policyText": policy(**CONDITION)}, request)
        pulls = [role_pull(ecr, IMAGE, ACCOUNT) for _ in range(4)]
    assert pulls == [RolePull.UNKNOWN, RolePull.YES, RolePull.NO, RolePull.CONDITIONAL]
