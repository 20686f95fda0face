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
from triton_fleet.aws.drift.difference import ABSENT, DELETION, Comparison, Difference, Whole, differences

ALARM, DASHBOARD, LOGS = "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "Custom::EndpointLogs"
MAX_NAMES = 100
"""The most names in a DescribeAlarms call; source: botocore, AlarmNames."""
ALARM_DEFAULTS = {"ActionsEnabled": True, "AlarmActions": [], "OKActions": [], "InsufficientDataActions": []}
"""What an alarm has by default."""
NO_DASHBOARD = ("ResourceNotFound", "ResourceNotFoundException", "DashboardNotFoundError")


def alarms(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's alarms."""
    cloudwatch = access.client("cloudwatch")
    declarations = stack.of_type(ALARM)
    for start in range(0, len(declarations), MAX_NAMES):
        batch = declarations[start : start + MAX_NAMES]
        names = [item.physical_id for item in batch]
        pages = cloudwatch.get_paginator("describe_alarms").paginate(
            AlarmNames=names, AlarmTypes=["MetricAlarm"]
        )
        live = {item["AlarmName"]: item for page in pages for item in page["MetricAlarms"]}
        for alarm in batch:
            properties: Any = {**ALARM_DEFAULTS, **alarm.properties, "AlarmName": alarm.physical_id}
            expectation = {name: value for name, value in properties.items() if name != "Tags"}
            live_alarm = live.get(alarm.physical_id)
            changes = (DELETION,) if live_alarm is None else tuple(differences(expectation, live_alarm))
            unchanged_properties = _same(
                expectation, live_alarm or {}
            )  # as it is: templates are read with names and signs lost
            restore = partial(cloudwatch.put_metric_alarm, **properties | unchanged_properties)
            yield Comparison(subject=f"alarm {alarm.name}", differences=changes, restore=restore)


def _same(declaration: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of what runs that are as declared."""
    return {
        name: actual[name]
        for name, value in declaration.items()
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
            changes: tuple[Difference, ...] = (DELETION,)
        else:
            changes = tuple(_widget_differences(json.loads(body), json.loads(live)))
        restore = partial(cloudwatch.put_dashboard, DashboardName=dashboard.physical_id, DashboardBody=body)
        yield Comparison(subject=f"dashboard {dashboard.name}", differences=changes, restore=restore)


def _widget_differences(template_body: Any, actual: Any) -> Iterator[Difference]:
    if template_body == actual:
        return
    declared_widgets, live_widgets = template_body.get("widgets", []), actual.get("widgets", [])
    difference_count = sum(widget not in declared_widgets for widget in live_widgets)
    text = (
        f"{len(live_widgets)}, of which {difference_count} differ"
        if live_widgets != declared_widgets
        else f"{len(live_widgets)} with other settings"
    )
    yield from differences({"DashboardBody": str(len(declared_widgets))}, {"DashboardBody": text})


def log_groups(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """For how many days the log groups of endpoints are kept, and by which key."""
    for resource in stack.of_type(LOGS):
        for group in resource.properties["LogGroups"]:
            yield _log_group(access.client("logs"), resource, group)


def _log_group(logs: Any, resource: DeclaredResource, group: str) -> Comparison:
    pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=group)
    groups = [item for page in pages for item in page["logGroups"] if item["logGroupName"] == group]
    days = int(resource.properties["RetentionInDays"])
    key = {"kmsKeyId": resource.properties["KmsKey"]} if "KmsKey" in resource.properties else {}
    settings = {"retentionInDays": days, **key}
    changes = tuple(differences(settings, groups[0])) if groups else (DELETION,)

    def restore() -> None:
        if not groups:
            logs.create_log_group(logGroupName=group, tags=resource.properties.get("Tags", {}), **key)
        elif any(differences(key, groups[0])):
            logs.associate_kms_key(logGroupName=group, **key)
        logs.put_retention_policy(logGroupName=group, retentionInDays=days)

    return Comparison(subject=f"log group {group}", differences=changes, restore=restore)


ROLE, POLICY = "AWS::IAM::Role", "AWS::IAM::Policy"
NO_ENTITY = "NoSuchEntity"
CREATE_PROPERTIES = ("Description", "MaxSessionDuration", "Path", "PermissionsBoundary", "Tags")
"""What CreateRole takes beside name and trust."""
EMPTY_ROLE: Mapping[str, Any] = {"PermissionsBoundary": ABSENT, "Policies": {}, "ManagedPolicyArns": []}


def roles(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's roles."""
    iam = access.client("iam")
    for role in stack.of_type(ROLE):
        declaration, subject = _declared_role(role, stack), f"role {role.name}"
        try:
            live = _live(iam, role.name)
        except ClientError as error:
            if error.response["Error"]["Code"] != NO_ENTITY:
                raise
            restore = partial(_create, iam, role, declaration)
            yield Comparison(subject=subject, differences=(DELETION,), restore=restore)
            continue
        extra_policies = {
            name: _in_words(live["Policies"][name])
            for name in live["Policies"].keys() - declaration["Policies"].keys()
        }
        comparable = {**live, "Policies": live["Policies"] | extra_policies}
        changes = differences(_normal(declaration), _normal(comparable))
        restore = partial(_restore, iam, role.name, declaration, live)
        yield Comparison(subject=subject, differences=tuple(changes), restore=restore)


def _declared_role(role: DeclaredResource, stack: DeclaredStack) -> dict[str, Any]:
    attachments = [
        item.properties for item in stack.of_type(POLICY) if role.name in item.properties.get("Roles", [])
    ]
    policies = [*role.properties.get("Policies", []), *attachments]
    return {
        "AssumeRolePolicyDocument": role.properties["AssumeRolePolicyDocument"],
        "PermissionsBoundary": role.properties.get("PermissionsBoundary", ABSENT),
        "ManagedPolicyArns": role.properties.get("ManagedPolicyArns", []),
        "Policies": Whole({policy["PolicyName"]: policy["PolicyDocument"] for policy in policies}),
    }


def _live(iam: Any, role: str) -> dict[str, Any]:
    answer = iam.get_role(RoleName=role)["Role"]
    inline = iam.get_paginator("list_role_policies").paginate(RoleName=role)
    attachments = iam.get_paginator("list_attached_role_policies").paginate(RoleName=role)
    return {
        "AssumeRolePolicyDocument": answer["AssumeRolePolicyDocument"],
        "PermissionsBoundary": answer.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ABSENT),
        "ManagedPolicyArns": [
            policy["PolicyArn"] for page in attachments for policy in page["AttachedPolicies"]
        ],
        "Policies": {
            name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for page in inline
            for name in page["PolicyNames"]
        },
    }


def _normal(role: Mapping[str, Any]) -> dict[str, Any]:
    """The same with whole policies: a key or a statement more is a difference."""
    policies = Whole({name: _document(policy) for name, policy in role["Policies"].items()})
    trust = _document(role["AssumeRolePolicyDocument"])
    return {**role, "Policies": policies, "AssumeRolePolicyDocument": trust}


def _in_words(document: Any) -> str:
    """A policy's statements in words, such as `Allow s3:* on *`."""
    statements = document["Statement"]
    return "; ".join(
        f"{entry['Effect']} {_list_text(entry.get('Action'))} on {_list_text(entry.get('Resource'))}"
        for entry in (statements if isinstance(statements, list) else [statements])
    )


def _list_text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _document(node: Any) -> Any:
    if isinstance(node, Mapping):
        return Whole({name: _document(value) for name, value in node.items()})
    return [_document(item) for item in node] if isinstance(node, list) else node


def _create(iam: Any, role: DeclaredResource, declaration: Mapping[str, Any]) -> None:
    trust = json.dumps(declaration["AssumeRolePolicyDocument"])
    arguments = {name: role.properties[name] for name in CREATE_PROPERTIES if name in role.properties}
    iam.create_role(**{**arguments, "RoleName": role.name, "AssumeRolePolicyDocument": trust})
    _restore(iam, role.name, declaration, EMPTY_ROLE)


def _restore(iam: Any, role: str, declaration: Mapping[str, Any], live: Mapping[str, Any]) -> None:
    iam.update_assume_role_policy(
        RoleName=role, PolicyDocument=json.dumps(declaration["AssumeRolePolicyDocument"])
    )
    if declaration["PermissionsBoundary"] is not ABSENT:
        iam.put_role_permissions_boundary(
            RoleName=role, PermissionsBoundary=declaration["PermissionsBoundary"]
        )
    elif live["PermissionsBoundary"] is not ABSENT:
        iam.delete_role_permissions_boundary(RoleName=role)
    for name in live["Policies"].keys() - declaration["Policies"].keys():
        iam.delete_role_policy(RoleName=role, PolicyName=name)
    for name, document in declaration["Policies"].items():
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
    for arn in set(live["ManagedPolicyArns"]) - set(declaration["ManagedPolicyArns"]):
        iam.detach_role_policy(RoleName=role, PolicyArn=arn)
    for arn in set(declaration["ManagedPolicyArns"]) - set(live["ManagedPolicyArns"]):
        iam.attach_role_policy(RoleName=role, PolicyArn=arn)
