"""Whether alarms of the running endpoints fire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.subject import AT_ONCE, Subject
from triton_fleet.awsapi.stack import find_stack, stack_resources
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricAlarmTypeDef

ALARM = "AWS::CloudWatch::Alarm"
OF_ONE_CONFIGURATION = "EndpointConfigName"
"""The dimension that only rollback alarms have."""
NAMES = 100
"""The most names in a DescribeAlarms call; source: botocore, AlarmNames."""
ROLLED_BACK = (
    "a new configuration has its own alarms: this one does not roll back a deploy that fixes the cause"
)
LOOK = "see docs/runbook.md, unless this deploy is the fix"


def alarms(subject: Subject) -> Iterator[CheckResult]:
    """The alarms of each endpoint's stack that are firing; only warnings.

    Alarms that roll back an update are of one configuration each, so that the errors of the running one do
    not stop the deploy that fixes them (docs/decisions/0013); nor should an operator's alarm.
    """
    cloudformation, cloudwatch = subject.access.client("cloudformation"), subject.access.client("cloudwatch")
    looks = all_in_parallel(
        subject.endpoints, lambda each: _firing_alarms(cloudformation, cloudwatch, each), AT_ONCE
    )
    for endpoint, firing in zip(subject.endpoints, looks, strict=True):
        what = f"alarms {endpoint.name}"
        if firing is None:
            yield CheckResult(what=what, text="none yet: its stack is not deployed")
            continue
        names = ", ".join(alarm["AlarmName"] for alarm in firing)
        findings = tuple(_finding(subject, endpoint.name, alarm) for alarm in firing)
        yield CheckResult(
            what=what, text=f"in ALARM: {names}" if names else "none in ALARM", findings=findings
        )


def _firing_alarms(
    cloudformation: CloudFormationClient, cloudwatch: CloudWatchClient, endpoint: ResolvedEndpoint
) -> list[MetricAlarmTypeDef] | None:
    stack = find_stack(cloudformation, endpoint.stack)
    if stack is None:
        return None
    names = [
        stack_resource["PhysicalResourceId"]
        for stack_resource in stack_resources(cloudformation, stack, ALARM)
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
    description = alarm.get("AlarmDescription", "")
    message = f"{alarm['AlarmName']} is in ALARM" + (f": {description}" if description else "")
    key, hint = ("rollout", ROLLED_BACK) if of_rollout else ("alarms", LOOK)
    return subject.of_spec(endpoint, (key,), "FL630", message, hint, warns=True)
