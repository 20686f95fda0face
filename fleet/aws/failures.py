"""Why a stack could not be brought where it should be, in the words of the resource that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.findings import CannotRunError, Finding, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

TAIL = 20
ALARM = "alarm"
EMERGENCY = "if what goes out now is to go out whatever happens: `rollout: {..., rollback_on: []}`; "
ENDPOINT = "AWS::SageMaker::Endpoint"
CANCELLED = "cancelled"
"""How CloudFormation says of a resource that it was under way when another one failed."""


def deploy_failure(
    cloudformation: CloudFormationClient, stack: str, output: str, where_logs: str
) -> FindingsError | CannotRunError:
    """The failure of the last deploy: the reasons of the resources that failed, else the CLI's last lines."""
    hint = f"what was served before goes on; {where_logs}"
    findings = failed_resources(cloudformation, stack, stack, hint)
    if findings:
        return FindingsError(findings)
    lines = "\n".join(output.strip().splitlines()[-TAIL:])
    return CannotRunError(f"cdk deploy {stack} failed:\n{lines}", where_logs)


def failed_resources(
    cloudformation: CloudFormationClient, stack_id: str, stack: str, hint: str
) -> list[Finding]:
    """What failed in the stack's last operation, told once each; `stack_id` finds a deleted stack, too.

    Events come newest first, and an operation begins with one of the stack itself that a user initiated.
    """
    findings: list[Finding] = []
    try:
        for page in cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_id):
            for event in page["StackEvents"]:
                if event.get("PhysicalResourceId") == event["StackId"]:
                    if event.get("ResourceStatusReason") == "User Initiated":
                        return list(dict.fromkeys(findings))
                    continue
                kind, reason = event.get("ResourceType"), event.get("ResourceStatusReason", "")
                if event.get("ResourceStatus", "").endswith("_FAILED") and not reason.endswith(CANCELLED):
                    way_out = EMERGENCY if kind == ENDPOINT and ALARM in reason.lower() else ""
                    message = f"{kind} of {stack}: {reason}"
                    findings.append(Finding(code="FL601", message=message, hint=f"{way_out}{hint}"))
    except ClientError:
        return []
    return list(dict.fromkeys(findings))
