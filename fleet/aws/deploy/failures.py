"""Why a stack's operation failed: the reasons of the resources that failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.aws.api.errors import SIGN_IN_AGAIN
from fleet.aws.running_configuration import DEPLOY_AGAIN
from fleet.findings import CannotRunError, Finding, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

TAIL = 20
ALARM = "alarm"
EMERGENCY = "to deploy despite the alarms in an emergency: `rollout: {..., rollback_on: []}`; "
ENDPOINT = "AWS::SageMaker::Endpoint"
FOUNDATION = ("Unable to fetch parameters [/triton-fleet/", "Function not found: ")
"""CloudFormation's messages for a missing part of Foundation."""
OLDER = "Foundation is older than the specs: deploy it first, `fleet deploy --env ENV --foundation`; "
CUSTOM = re.compile(
    r"Received response status \[FAILED\] from custom resource\. Message returned: (?:Error: )?(.*?)"
    r"(?:\n\nLogs: .*)?\(RequestId: [^)]*\)",
    re.DOTALL,
)
"""A function's message inside the text that CloudFormation and the CDK's framework put around it."""
EXPIRED = re.compile(
    r"ExpiredToken|RequestExpired|security token included in the request is expired"
    r"|expired AWS credentials|To refresh this SSO session"
)
"""What the CDK's toolkit 1.43 prints of credentials that have expired."""
COLLISION = re.compile(
    r"InvalidChangeSetStatus|ChangeSetNotFound|OperationInProgressException"
    r"|is in \w+_IN_PROGRESS state and can ?not be|already exists and cannot be created again"
    r"|has change sets currently being created"
)
"""Messages of CloudFormation and of the CDK's toolkit 1.43 if another deploy changes the stack meanwhile."""
CANCELLED = "cancelled"
"""The end of CloudFormation's reason for a resource in progress when another one failed."""
BEGUN = "User Initiated"
"""CloudFormation's reason for the first event of an operation on a stack; later events lack it."""
DELETING = "DELETE_IN_PROGRESS"
ROLLING_BACK = "UPDATE_ROLLBACK_IN_PROGRESS"
"""The start of an update's rollback; update, rollback and its continuation count as one operation."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failed resource: its type and CloudFormation's reason."""

    kind: str
    reason: str

    @property
    def own_reason(self) -> str:
        """The reason without the text that CloudFormation puts around a function's message."""
        return CUSTOM.sub(lambda found: found[1].strip(), self.reason).strip()


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation on a stack: when it began, None if that event is gone; what failed.

    Failures in the rollback of an update are left out: they follow from the update's.
    """

    began: datetime | None
    failures: tuple[Failure, ...]


def deploy_failure(
    cloudformation: CloudFormationClient, stack: str, output: str, where_logs: str, *, created: bool = False
) -> FindingsError | CannotRunError:
    """The failure of the last deploy: the reasons of the resources that failed, else the CDK's last lines.

    `created`: the stack did not exist before.
    """
    lines = "\n".join(output.strip().splitlines()[-TAIL:])
    if EXPIRED.search(output):  # before the events are read: they may be of an earlier operation
        problem = f"the credentials expired during cdk deploy {stack}; CloudFormation continues without them"
        return CannotRunError(f"{problem}:\n{lines}", f"{SIGN_IN_AGAIN}; {where_logs}")
    if COLLISION.search(output):  # before the events are read: they are of the other deploy
        problem = f"another deploy changed {stack} at the same time; this one changed nothing of it"
        return CannotRunError(
            f"{problem}:\n{lines}", f"wait until it has ended; if {DEPLOY_AGAIN}; {where_logs}"
        )
    left = (
        "nothing was deployed before; the stack was rolled back"
        if created
        else "what was served before is still served"
    )
    hint = f"{left}; {where_logs}"
    findings = failed_resources(cloudformation, stack, stack, hint)
    if findings:
        return FindingsError(findings)
    return CannotRunError(f"cdk deploy {stack} failed:\n{lines}", where_logs)


def failed_resources(
    cloudformation: CloudFormationClient, stack_id: str, stack: str, hint: str
) -> list[Finding]:
    """What failed in the stack's last operation, each once; `stack_id` also finds a deleted stack."""
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
    if any(part in reason for part in FOUNDATION):
        way_out = OLDER
    return Finding(code="FL601", message=f"{kind} of {stack}: {failure.own_reason}", hint=f"{way_out}{hint}")
