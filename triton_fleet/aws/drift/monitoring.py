"""Alarms, dashboards and the log groups of endpoints.

CloudFormation compares only what a template declares of an alarm, and so misses actions that somebody
switched off. It would compare a dashboard's body as text, and cannot read what a custom resource keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.comparison import Comparison
from triton_fleet.aws.drift.declaration import DeclaredResource, DeclaredStack
from triton_fleet.aws.drift.difference import DELETED, Difference, differences

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
