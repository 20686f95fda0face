"""Why a stack could not be brought where it should be, in the words of the resource that failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.findings import CannotRunError, Finding, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

TAIL = 20
ALARM = "alarm"
EMERGENCY = "if what goes out now is to go out whatever happens: `rollout: {..., rollback_on: []}`; "
ENDPOINT = "AWS::SageMaker::Endpoint"
FOUNDATION = ("Unable to fetch parameters [/triton-fleet/", "Function not found: ")
"""How CloudFormation says that something of Foundation is not there."""
OLDER = "Foundation is older than the specs: deploy it first, `fleet deploy --env ENV --foundation`; "
CUSTOM = re.compile(
    r"Received response status \[FAILED\] from custom resource\. Message returned: (?:Error: )?(.*?)"
    r"(?:\n\nLogs: .*)?\(RequestId: [^)]*\)",
    re.DOTALL,
)
"""A function's own words, and what CloudFormation and the CDK's framework put around them."""
CANCELLED = "cancelled"
"""How CloudFormation says of a resource that it was under way when another one failed."""


def deploy_failure(
    cloudformation: CloudFormationClient, stack: str, output: str, where_logs: str, *, created: bool = False
) -> FindingsError | CannotRunError:
    """The failure of the last deploy: the reasons of the resources that failed, else the CLI's last lines.

    With `created` there was no such stack before.
    """
    left = (
        "nothing was served before, and the stack is taken back"
        if created
        else "what was served before goes on"
    )
    hint = f"{left}; {where_logs}"
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
                kind, reason = event.get("ResourceType", ""), event.get("ResourceStatusReason", "")
                if event.get("ResourceStatus", "").endswith("_FAILED") and not reason.endswith(CANCELLED):
                    findings.append(_finding(kind, stack, reason, hint))
    except ClientError:
        return []
    return list(dict.fromkeys(findings))


def _finding(kind: str, stack: str, reason: str, hint: str) -> Finding:
    way_out = EMERGENCY if kind == ENDPOINT and ALARM in reason.lower() else ""
    if any(said in reason for said in FOUNDATION):
        way_out = OLDER
    said = CUSTOM.sub(lambda found: found[1].strip(), reason).strip()
    return Finding(code="FL601", message=f"{kind} of {stack}: {said}", hint=f"{way_out}{hint}")
