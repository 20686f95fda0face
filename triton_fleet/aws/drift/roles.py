"""Roles with all their policies: also those that somebody added, which CloudFormation does not report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.comparison import Comparison
from triton_fleet.aws.drift.declaration import DeclaredResource, DeclaredStack
from triton_fleet.aws.drift.difference import ABSENT, DELETED, Whole, differences

ROLE, POLICY = "AWS::IAM::Role", "AWS::IAM::Policy"
MISSING = "NoSuchEntity"
CREATED = ("Description", "MaxSessionDuration", "Path", "PermissionsBoundary", "Tags")
"""What CreateRole takes beside name and trust."""
NOTHING: Mapping[str, Any] = {"PermissionsBoundary": ABSENT, "Policies": {}, "ManagedPolicyArns": []}


def roles(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's roles."""
    iam = access.client("iam")
    for role in stack.of_type(ROLE):
        wanted, subject = _wanted(role, stack), f"role {role.name}"
        try:
            live = _live(iam, role.name)
        except ClientError as error:
            if error.response["Error"]["Code"] != MISSING:
                raise
            restore = partial(_create, iam, role, wanted)
            yield Comparison(subject=subject, differences=(DELETED,), restore=restore)
            continue
        added = {
            name: _in_words(live["Policies"][name])
            for name in live["Policies"].keys() - wanted["Policies"].keys()
        }
        shown = {**live, "Policies": live["Policies"] | added}
        differing = differences(_normal(wanted), _normal(shown))
        restore = partial(_restore, iam, role.name, wanted, live)
        yield Comparison(subject=subject, differences=tuple(differing), restore=restore)


def _wanted(role: DeclaredResource, stack: DeclaredStack) -> dict[str, Any]:
    attached = [
        each.properties for each in stack.of_type(POLICY) if role.name in each.properties.get("Roles", [])
    ]
    policies = [*role.properties.get("Policies", []), *attached]
    return {
        "AssumeRolePolicyDocument": role.properties["AssumeRolePolicyDocument"],
        "PermissionsBoundary": role.properties.get("PermissionsBoundary", ABSENT),
        "ManagedPolicyArns": role.properties.get("ManagedPolicyArns", []),
        "Policies": Whole({policy["PolicyName"]: policy["PolicyDocument"] for policy in policies}),
    }


def _live(iam: Any, role: str) -> dict[str, Any]:
    found = iam.get_role(RoleName=role)["Role"]
    inline = iam.get_paginator("list_role_policies").paginate(RoleName=role)
    attached = iam.get_paginator("list_attached_role_policies").paginate(RoleName=role)
    return {
        "AssumeRolePolicyDocument": found["AssumeRolePolicyDocument"],
        "PermissionsBoundary": found.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ABSENT),
        "ManagedPolicyArns": [each["PolicyArn"] for page in attached for each in page["AttachedPolicies"]],
        "Policies": {
            name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for page in inline
            for name in page["PolicyNames"]
        },
    }


def _normal(role: Mapping[str, Any]) -> dict[str, Any]:
    """The same with whole policies: a key or a statement more is a difference."""
    policies = Whole({name: _document(each) for name, each in role["Policies"].items()})
    trust = _document(role["AssumeRolePolicyDocument"])
    return {**role, "Policies": policies, "AssumeRolePolicyDocument": trust}


def _in_words(document: Any) -> str:
    """A policy's statements in words, such as `Allow s3:* on *`."""
    statements = document["Statement"]
    return "; ".join(
        f"{statement['Effect']} {_listed(statement.get('Action'))} on {_listed(statement.get('Resource'))}"
        for statement in (statements if isinstance(statements, list) else [statements])
    )


def _listed(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _document(node: Any) -> Any:
    if isinstance(node, Mapping):
        return Whole({name: _document(value) for name, value in node.items()})
    return [_document(each) for each in node] if isinstance(node, list) else node


def _create(iam: Any, role: DeclaredResource, wanted: Mapping[str, Any]) -> None:
    trust = json.dumps(wanted["AssumeRolePolicyDocument"])
    given = {name: role.properties[name] for name in CREATED if name in role.properties}
    iam.create_role(**{**given, "RoleName": role.name, "AssumeRolePolicyDocument": trust})
    _restore(iam, role.name, wanted, NOTHING)


def _restore(iam: Any, role: str, wanted: Mapping[str, Any], live: Mapping[str, Any]) -> None:
    iam.update_assume_role_policy(
        RoleName=role, PolicyDocument=json.dumps(wanted["AssumeRolePolicyDocument"])
    )
    if wanted["PermissionsBoundary"] is not ABSENT:
        iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=wanted["PermissionsBoundary"])
    elif live["PermissionsBoundary"] is not ABSENT:
        iam.delete_role_permissions_boundary(RoleName=role)
    for name in live["Policies"].keys() - wanted["Policies"].keys():
        iam.delete_role_policy(RoleName=role, PolicyName=name)
    for name, document in wanted["Policies"].items():
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
    for arn in set(live["ManagedPolicyArns"]) - set(wanted["ManagedPolicyArns"]):
        iam.detach_role_policy(RoleName=role, PolicyArn=arn)
    for arn in set(wanted["ManagedPolicyArns"]) - set(live["ManagedPolicyArns"]):
        iam.attach_role_policy(RoleName=role, PolicyArn=arn)
