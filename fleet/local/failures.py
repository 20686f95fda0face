"""Why a stack could not be deployed, in the words of the resource that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.findings import CannotRunError, Finding, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

TAIL = 20
HINT = "what was served before goes on; `fleet local logs` lists the logs"


def deploy_failure(
    cloudformation: CloudFormationClient, stack: str, output: str
) -> FindingsError | CannotRunError:
    """The failure of the last deploy: the reasons of the resources that failed, else the CLI's last lines.

    Events come newest first, and a deploy begins with one of the stack itself that a user initiated.
    """
    try:
        events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
    except ClientError:
        events = []
    findings = []
    for event in events:
        if event.get("PhysicalResourceId") == event["StackId"]:
            if event.get("ResourceStatusReason") == "User Initiated":
                break
        elif event.get("ResourceStatus", "").endswith("_FAILED"):
            kind, reason = event.get("ResourceType"), event.get("ResourceStatusReason", "")
            findings.append(Finding(code="FL601", message=f"{kind} of {stack}: {reason}", hint=HINT))
    if findings:
        return FindingsError(list(dict.fromkeys(findings)))
    lines = "\n".join(output.strip().splitlines()[-TAIL:])
    return CannotRunError(f"cdk deploy {stack} failed:\n{lines}", "`fleet local logs cdk` has all of it")
