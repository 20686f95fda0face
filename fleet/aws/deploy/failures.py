"""Why a stack could not be brought where it should be, in the words of the resource that failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
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
BEGUN = "User Initiated"
"""How CloudFormation says of a stack that an operation begins, which nothing that follows from it has."""
DELETING = "DELETE_IN_PROGRESS"
ROLLING_BACK = "UPDATE_ROLLBACK_IN_PROGRESS"
"""The beginning of an update's rollback; it is one operation with the update, also where it is continued."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A resource that failed, by its type, and why: as CloudFormation says it, and without its frame."""

    kind: str
    reason: str

    @property
    def said(self) -> str:
        """The reason in the resource's own words."""
        return CUSTOM.sub(lambda found: found[1].strip(), self.reason).strip()


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What befell a stack: when it began, None where its beginning is not told any more; what failed.

    What could not be put back in the rollback of an update is not among the failures: it follows from them.
    """

    began: datetime | None
    failures: tuple[Failure, ...]


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
    """What failed in the stack's last operation, told once each; `stack_id` finds a deleted stack, too."""
    try:
        failures = last_operation(cloudformation, stack_id).failures
    except ClientError:
        return []
    return list(dict.fromkeys(_finding(each, stack, hint) for each in failures))


def last_operation(
    cloudformation: CloudFormationClient, stack_id: str, *, before_deletion: bool = False
) -> Operation:
    """A stack's last operation, or the one before its deletion; events come newest first.

    Raises:
        ClientError: access is denied.
    """
    failures = dict[Failure, None]()
    for page in cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_id):
        for event in page["StackEvents"]:
            status, reason = event.get("ResourceStatus", ""), event.get("ResourceStatusReason", "")
            if event.get("PhysicalResourceId") == event["StackId"]:
                if status == ROLLING_BACK:
                    failures.clear()
                elif reason == BEGUN and not (before_deletion and status == DELETING):
                    return Operation(began=event.get("Timestamp"), failures=tuple(failures))
            elif status.endswith("_FAILED") and not reason.endswith(CANCELLED):
                failures[Failure(kind=event.get("ResourceType", ""), reason=reason)] = None
    return Operation(began=None, failures=tuple(failures))


def _finding(failure: Failure, stack: str, hint: str) -> Finding:
    kind, reason = failure.kind, failure.reason
    way_out = EMERGENCY if kind == ENDPOINT and ALARM in reason.lower() else ""
    if any(said in reason for said in FOUNDATION):
        way_out = OLDER
    return Finding(code="FL601", message=f"{kind} of {stack}: {failure.said}", hint=f"{way_out}{hint}")
