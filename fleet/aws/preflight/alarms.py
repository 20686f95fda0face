"""Whether the alarms of what runs now are quiet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet.aws.api.stack import find_stack
from fleet.aws.preflight.check_result import CheckResult
from fleet.aws.preflight.subject import AT_ONCE, Subject
from fleet.core.parallel import all_in_parallel
from fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from fleet.findings import Finding

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricAlarmTypeDef

ALARM = "AWS::CloudWatch::Alarm"
OF_ONE_CONFIGURATION = "EndpointConfigName"
"""The dimension that rollback alarms alone have."""
NAMES = 100
"""Of a DescribeAlarms call; source: botocore, AlarmNames."""
CALLED_BACK = "a new configuration has alarms of its own, so what fixes this one is not rolled back by it"
LOOK = "see docs/runbook.md, unless the deploy is what mends it"


def alarms(subject: Subject) -> Iterator[CheckResult]:
    """The alarms of each endpoint's stack that ring now, which only warns.

    Those that call a rollout back are of one configuration each, so that the errors of what runs now do not
    stop what mends them (docs/decisions/0013); nor should an operator's alarm.
    """
    cloudformation, cloudwatch = subject.access.client("cloudformation"), subject.access.client("cloudwatch")
    looks = all_in_parallel(
        subject.endpoints, lambda each: _firing_alarms(cloudformation, cloudwatch, each), AT_ONCE
    )
    for endpoint, ringing in zip(subject.endpoints, looks, strict=True):
        what = f"alarms {endpoint.name}"
        if ringing is None:
            yield CheckResult(what=what, text="none yet: its stack is not deployed")
            continue
        names = ", ".join(alarm["AlarmName"] for alarm in ringing)
        findings = tuple(_finding(subject, endpoint.name, alarm) for alarm in ringing)
        yield CheckResult(what=what, text=f"in ALARM: {names}" if names else "quiet", findings=findings)


def _firing_alarms(
    cloudformation: CloudFormationClient, cloudwatch: CloudWatchClient, endpoint: ResolvedEndpoint
) -> list[MetricAlarmTypeDef] | None:
    stack = find_stack(cloudformation, endpoint.stack)
    if stack is None:
        return None
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack.id)
    names = [
        each["PhysicalResourceId"]
        for page in pages
        for each in page["StackResourceSummaries"]
        if each["ResourceType"] == ALARM and each.get("PhysicalResourceId")
    ]
    described = [
        alarm
        for start in range(0, len(names), NAMES)
        for alarm in cloudwatch.describe_alarms(AlarmNames=names[start : start + NAMES])["MetricAlarms"]
    ]
    return [alarm for alarm in described if alarm["StateValue"] == "ALARM"]


def _finding(subject: Subject, endpoint: str, alarm: MetricAlarmTypeDef) -> Finding:
    dimensions = {each["Name"] for each in alarm.get("Dimensions", ())}
    of_rollout = OF_ONE_CONFIGURATION in dimensions
    said = alarm.get("AlarmDescription", "")
    message = f"{alarm['AlarmName']} is in ALARM" + (f": {said}" if said else "")
    key, hint = ("rollout", CALLED_BACK) if of_rollout else ("alarms", LOOK)
    return subject.of_spec(endpoint, (key,), "FL630", message, hint, warns=True)
