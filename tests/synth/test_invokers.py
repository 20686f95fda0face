"""`access.invokers` of a spec: named roles call one endpoint, in a role that may do nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.support.fleet_folder import FleetFolder
from tests.synth.conftest import Synth

SEARCH, ADS = "arn:aws:iam::444455556666:role/search", "arn:aws:iam::777788889999:role/teams/ads"


def role_of(template: Template) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The trust of the invokers' role, and its statements."""
    (value,) = [entry["Value"] for name, entry in template.find_outputs("*").items() if name == "InvokerRole"]
    id = value["Fn::GetAtt"][0]
    (policy,) = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for resource in template.find_resources("AWS::IAM::Policy").values()
        if resource["Properties"]["Roles"] == [{"Ref": id}]
    ]
    role = template.find_resources("AWS::IAM::Role")[id]["Properties"]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    return statement, policy


@pytest.fixture(autouse=True)
def allow_model_rules(folder: FleetFolder) -> None:
    folder.environment('allowed_invokers: ["444455556666", "777788889999"]\n')


def test_the_named_roles_take_on_a_role_that_calls_this_endpoint_and_nothing_else(
    template: Synth,
) -> None:
    stack_template = template(f"access: {{invokers: ['{SEARCH}', '{ADS}']}}\n")
    values, policy = role_of(stack_template)
    assert values == {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"AWS": [SEARCH, ADS]}}
    endpoint = "arn:aws:sagemaker:us-east-1:111122223333:endpoint/sentences"
    call = {"Sid": "CallEndpoint", "Effect": "Allow", "Action": "sagemaker:InvokeEndpoint"}
    assert policy == [{**call, "Resource": endpoint}]


def test_streams_are_for_a_container_that_answers_with_them(template: Synth) -> None:
    keys = f"container: {{inference_type: generate_stream}}\naccess: {{invokers: ['{SEARCH}']}}\n"
    _, policy = role_of(template(keys))
    assert policy[0]["Action"] == [
        "sagemaker:InvokeEndpoint",
        "sagemaker:InvokeEndpointWithResponseStream",
    ]


def test_without_invokers_there_is_no_such_role(template: Synth) -> None:
    stack_template = template()
    assert len(stack_template.find_resources("AWS::IAM::Role")) == 1
    assert "InvokerRole" not in stack_template.find_outputs("*")
