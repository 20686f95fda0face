"""Alarms, dashboards, log groups and roles, with what CloudFormation does not report of them.

CloudFormation compares only what a template declares of an alarm, and so misses actions that somebody
switched off. It would compare a dashboard's body as text, cannot read what a custom resource keeps, and does
not report policies that somebody added to a role.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.declaration import DeclaredResource, DeclaredStack
from triton_fleet.aws.drift.difference import ABSENT, DELETED, Comparison, Difference, Whole, differences

ALARM, DASHBOARD, LOGS = "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "Custom::EndpointLogs"
MAX_NAMES = 100
"""The most names in a DescribeAlarms call; source: botocore, AlarmNames."""
UNDECLARED = {"ActionsEnabled": True, "AlarmActions": [], "OKActions": [], "InsufficientDataActions": []}
"""What an alarm has by default."""
NO_DASHBOARD = ("ResourceNotFound", "ResourceNotFoundException", "DashboardNotFoundError")


def alarms(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's alarms."""
    cloudwatch = access.client("cloudwatch")
    declared = stack.of_type(ALARM)
    for start in range(0, len(declared), MAX_NAMES):
        some = declared[start : start + MAX_NAMES]
        names = [each.physical_id for each in some]
        pages = cloudwatch.get_paginator("describe_alarms").paginate(
            AlarmNames=names, AlarmTypes=["MetricAlarm"]
        )
        live = {each["AlarmName"]: each for page in pages for each in page["MetricAlarms"]}
        for alarm in some:
            wanted: Any = {**UNDECLARED, **alarm.properties, "AlarmName": alarm.physical_id}
            compared = {name: value for name, value in wanted.items() if name != "Tags"}
            found = live.get(alarm.physical_id)
            differing = (DELETED,) if found is None else tuple(differences(compared, found))
            kept = _same(compared, found or {})  # as it is: templates are read with names and signs lost
            restore = partial(cloudwatch.put_metric_alarm, **wanted | kept)
            yield Comparison(subject=f"alarm {alarm.name}", differences=differing, restore=restore)


def _same(declared: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of what runs that are as declared."""
    return {
        name: actual[name]
        for name, value in declared.items()
        if name in actual and not any(differences(value, actual[name]))
    }


def dashboards(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's dashboards, of which only the widgets that differ are counted."""
    cloudwatch = access.client("cloudwatch")
    for dashboard in stack.of_type(DASHBOARD):
        body = dashboard.properties["DashboardBody"]
        if not isinstance(body, str):
            continue
        try:
            live = cloudwatch.get_dashboard(DashboardName=dashboard.physical_id)["DashboardBody"]
        except ClientError as error:
            if error.response["Error"]["Code"] not in NO_DASHBOARD:
                raise
            differing: tuple[Difference, ...] = (DELETED,)
        else:
            differing = tuple(_widget_differences(json.loads(body), json.loads(live)))
        restore = partial(cloudwatch.put_dashboard, DashboardName=dashboard.physical_id, DashboardBody=body)
        yield Comparison(subject=f"dashboard {dashboard.name}", differences=differing, restore=restore)


def _widget_differences(declared: Any, actual: Any) -> Iterator[Difference]:
    if declared == actual:
        return
    wanted, found = declared.get("widgets", []), actual.get("widgets", [])
    other = sum(each not in wanted for each in found)
    text = (
        f"{len(found)}, of which {other} differ" if found != wanted else f"{len(found)} with other settings"
    )
    yield from differences({"DashboardBody": str(len(wanted))}, {"DashboardBody": text})


def log_groups(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """For how many days the log groups of endpoints are kept, and by which key."""
    for resource in stack.of_type(LOGS):
        for group in resource.properties["LogGroups"]:
            yield _log_group(access.client("logs"), resource, group)


def _log_group(logs: Any, resource: DeclaredResource, group: str) -> Comparison:
    pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=group)
    found = [each for page in pages for each in page["logGroups"] if each["logGroupName"] == group]
    days = int(resource.properties["RetentionInDays"])
    key = {"kmsKeyId": resource.properties["KmsKey"]} if "KmsKey" in resource.properties else {}
    wanted = {"retentionInDays": days, **key}
    differing = tuple(differences(wanted, found[0])) if found else (DELETED,)

    def restore() -> None:
        if not found:
            logs.create_log_group(logGroupName=group, tags=resource.properties.get("Tags", {}), **key)
        elif any(differences(key, found[0])):
            logs.associate_kms_key(logGroupName=group, **key)
        logs.put_retention_policy(logGroupName=group, retentionInDays=days)

    return Comparison(subject=f"log group {group}", differences=differing, restore=restore)


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
