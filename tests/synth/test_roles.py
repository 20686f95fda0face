"""Every action and resource of every role, as `docs/roles.md` lists them, and no wildcard without a reason.

A change that is meant is written by `pytest -n0 tests/synth/test_roles.py --snapshot-update`.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from itertools import chain, product
from pathlib import Path

import pytest

from tests.support.cfn_linting import cfn_lint
from tests.support.fleet_folder import ROOT
from tests.synth.roles import Grant, Role, roles
from tests.synth.shipped_specs import ENVIRONMENTS, shipped_spec
from tests.synth.stack_kinds import BOUNDARY, BOUNDED_STACKS, stack_kinds
from triton_endpoints.access.roles import ACCESS_WILDCARDS
from triton_endpoints.wildcards import WILDCARDS
from triton_fleet.endpoint.bucket_keys import OWNERS

DOCUMENT = ROOT / "docs" / "roles.md"
HEAD = """\
# Roles

Every role of every stack, and all that each may do, with the environment `dev` of the account `111122223333` in
`us-east-1` and the endpoint `sentences` as examples. This file is generated: a test compares it with the
templates, and fails on a wildcard that `constructs/triton_endpoints/wildcards.py` gives no reason for.
"""
VERSIONS = re.compile(r"\$\{\w+\.Arn\}:\*")
"""Those of a function that the CDK's provider invokes: `acknowledge_invocation` has the reason."""


@pytest.fixture(scope="module")
def listed_roles() -> dict[str, list[Role]]:
    return {title: roles(template) for title, template in stack_kinds().items()}


@pytest.fixture(scope="module")
def every(listed_roles: dict[str, list[Role]]) -> list[Role]:
    """Those, and the roles of what is shipped."""
    templates = (template for environment in ENVIRONMENTS for template in shipped_spec(environment).values())
    return [*chain(*listed_roles.values()), *chain(*map(roles, templates))]


def test_the_document_lists_what_the_roles_may_do(
    listed_roles: dict[str, list[Role]], pytestconfig: pytest.Config
) -> None:
    parts = ["\n\n".join([f"## {title}", *map(Role.text, role)]) for title, role in listed_roles.items()]
    text = "\n\n".join([HEAD.rstrip(), *parts]) + "\n"
    if pytestconfig.option.update_snapshots:
        DOCUMENT.write_text(text)
    assert DOCUMENT.read_text() == text


def test_no_action_is_a_wildcard_and_nothing_is_granted_by_exclusion(every: list[Role]) -> None:
    statements = [item for role in every for item in role.grants]
    assert {statement.effect for statement in statements} == {"Allow"}
    assert [statement for statement in statements if "*" in "".join(statement.actions)] == []


def test_each_wildcard_of_a_resource_is_one_that_somebody_reasoned_about(every: list[Role]) -> None:
    rows = [
        (role.name, item.sid, resource)
        for role in every
        for item in role.grants
        for resource in item.resources
        if "*" in resource and not is_meant(item, resource)
    ]
    assert rows == []


def test_what_was_reasoned_about_is_granted(every: list[Role]) -> None:
    """The reasons of wildcards that are no more go with them."""
    statements = [item for role in every for item in role.grants]
    for wildcard in (*WILDCARDS, *ACCESS_WILDCARDS):
        granted_actions = {
            action
            for statement in statements
            if any(re.fullmatch(wildcard.form, resource) for resource in statement.resources)
            for action in statement.actions
        }
        assert wildcard.actions <= granted_actions, wildcard.form


def test_a_role_is_taken_on_by_a_service_of_aws_unless_a_file_names_others(every: list[Role]) -> None:
    """Those that `access` of a spec and of an environment name are in test_access.py."""
    trust = [item for role in every if not role.name.startswith(("Access", "Invoker")) for item in role.trust]
    assert {item.actions for item in trust} == {("sts:AssumeRole",)}
    assert {principal for item in trust for principal in item.principals} == {
        "Service: codebuild.amazonaws.com",
        "Service: lambda.amazonaws.com",
        "Service: sagemaker.amazonaws.com",
        "Service: states.amazonaws.com",
    }


def test_no_role_has_a_policy_of_others(every: list[Role]) -> None:
    assert [role.name for role in every if role.managed_policies] == []


def test_the_boundary_of_an_environment_is_on_each_role_and_no_other_is(
    listed_roles: dict[str, list[Role]],
) -> None:
    boundaries = {
        title: {role.boundary for role in actual_role} for title, actual_role in listed_roles.items()
    }
    assert boundaries == {title: {BOUNDARY if title in BOUNDED_STACKS else ""} for title in listed_roles}


@pytest.mark.parametrize("kind", ["AWS::IAM::ManagedPolicy", "AWS::IAM::User"])
def test_a_kind_of_grant_that_would_not_be_listed_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match=kind):
        roles({"Resources": {"Any": {"Type": kind}}})


def test_every_action_is_one_of_aws_and_takes_the_resource_of_its_statement(
    tmp_path: Path,
) -> None:
    """The one template that is not ours has one action of each mistake."""
    statements = [
        {
            "Effect": "Allow",
            "Action": action,
            "Resource": "arn:aws:lambda:us-east-1:111122223333:function:any",
        }
        for action in ("lambda:InvokeFunctions", "s3:GetObject")
    ]
    document = {"Version": "2012-10-17", "Statement": statements}
    policy = {"PolicyName": "any", "Roles": ["any"], "PolicyDocument": document}
    wrong = {"Resources": {"Wrong": {"Type": "AWS::IAM::Policy", "Properties": policy}}}
    for name, template in {**stack_kinds(), "wrong": wrong}.items():
        (tmp_path / name).write_text(json.dumps(template))
    rows = sorted((file, rule) for file, rule, _ in cfn_lint(tmp_path.iterdir()))
    assert rows == [("wrong", "I3510"), ("wrong", "W3037")]


def is_meant(statement: Grant, resource: str) -> bool:
    if VERSIONS.fullmatch(resource):
        return statement.actions == ("lambda:InvokeFunction",)
    return any(
        re.fullmatch(wildcard.form, resource) and wildcard.actions >= {*statement.actions}
        for wildcard in (*WILDCARDS, *ACCESS_WILDCARDS)
    )


def test_no_role_but_the_one_that_deploys_writes_who_owns_which_content(every: list[Role]) -> None:
    record = f"{OWNERS}sentences/{'0' * 64}"
    writers = {
        role.name
        for role in every
        for item in role.grants
        for action, resource in product(item.actions, item.resources)
        if action.startswith("s3:") and not action.startswith(("s3:Get", "s3:List"))
        if resource == "*" or fnmatchcase(record, resource.partition("/")[2])
    }
    assert writers == {"AccessDeploy"}
