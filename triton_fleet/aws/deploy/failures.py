"""Why a stack's operation failed: the reasons of the resources that failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from triton_fleet.aws.running_configuration import DEPLOY_REMEDY
from triton_fleet.awsapi.errors import SIGN_IN_REMEDY
from triton_fleet.awsapi.stack import find_stack
from triton_fleet.catalog.cloudformation import StackState, stack_status
from triton_fleet.catalog.symptoms import EvidenceOrigin, known_remedy, known_symptom
from triton_fleet.findings import CannotRunError, Finding, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

TAIL = 20
ALARM = "alarm"
EMERGENCY = "to deploy despite the alarms in an emergency: `rollout: {..., rollback_on: []}`; "
ENDPOINT = "AWS::SageMaker::Endpoint"
MODEL = "AWS::SageMaker::Model"
NEW_ROLE = "FL662"
"""The code of the symptom that SageMaker could not assume a role."""
FAILED_RESOURCE = "FL601"
PARAMETER = "Unable to fetch parameters [/triton-fleet/"
FOUNDATION = (PARAMETER, "Function not found: ")
"""CloudFormation's messages for a missing part of Foundation."""
TAKE_OVER = (
    "run `fleet deploy --env {environment} --foundation --import-existing` to take over what an"
    " earlier Foundation has left, or delete it"
)
DELETE_OR_RENAME = "rename the resource, or delete the one that exists"
OLDER = (
    "Foundation is older than the specs: deploy it first, `fleet deploy --env {environment} --foundation`; "
)
CUSTOM = re.compile(
    r"Received response status \[FAILED\] from custom resource\. Message returned: (?:Error: )?(.*?)"
    r"(?:\n\nLogs: .*)?\(RequestId: [^)]*\)",
    re.DOTALL,
)
"""A function's message inside the text that CloudFormation and the CDK's framework put around it."""
EXPIRY_MESSAGE = re.compile(
    r"ExpiredToken|RequestExpired|security token included in the request is expired"
    r"|expired AWS credentials|To refresh this SSO session|Your session has expired"
)
"""Messages of the CDK's toolkit 1.43 about credentials that have expired."""
COLLISION = re.compile(
    r"InvalidChangeSetStatus|ChangeSetNotFound|OperationInProgressException"
    r"|is in \w+_IN_PROGRESS state and can ?not be|already exists and cannot be created again"
    r"|has change sets currently being created"
    r"|Change set \S+ (?:is still being created|cannot be executed)"
)
"""Messages of CloudFormation and of the CDK's toolkit 1.43 if another deploy changes the stack meanwhile."""
EARLY_VALIDATION = re.compile(r"AWS::EarlyValidation::|Early validation failed for change set")
"""The toolkit's messages about a change set that CloudFormation's validation refuses."""
NAME_VALIDATION = "AWS::EarlyValidation::ResourceExistenceCheck"
"""Its message about names that exist if it may not read which."""
EXISTING_NAME = re.compile(r"Resource of type '([\w:]+)' with identifier '([^']+)' already exists")
"""CloudFormation's words for one of them; the toolkit breaks them into lines of 120 characters."""
CANCELLATION = "cancelled"
"""The end of CloudFormation's reason for a resource in progress when another one failed."""
FIRST_EVENT_REASON = "User Initiated"
"""CloudFormation's reason for the first event of an operation on a stack; later events lack it."""
DELETE_IN_PROGRESS = "DELETE_IN_PROGRESS"
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
        return CUSTOM.sub(lambda match: match[1].strip(), self.reason).strip()

    @property
    def is_of_role(self) -> bool:
        """Whether SageMaker could not assume a role."""
        known_match = known_symptom(self.own_reason, EvidenceOrigin.EVENT)
        return known_match is not None and NEW_ROLE in known_match[0].codes


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation on a stack: when it began, if that event is not gone; when it ended, if it has.

    Failures in the rollback of an update are left out: they follow from the update's.
    """

    began: datetime | None
    failures: tuple[Failure, ...]
    end: datetime | None = None


def deploy_failure(
    cloudformation: CloudFormationClient,
    stack: str,
    output: str,
    where_logs: str,
    *,
    is_new: bool = False,
    since: str | None = None,
    foundation_of: str = "",
) -> FindingsError | CannotRunError:
    """The failure of the last deploy: the reasons of the resources that failed, else the CDK's last lines.

    Args:
        cloudformation: Reads the stack's events.
        stack: Its name.
        output: The CDK's.
        where_logs: Where a user finds all of it.
        is_new: Whether the stack did not exist before.
        since: The id of the last event before the deploy; what is older did not fail now.
        foundation_of: The environment, if the stack is its Foundation, which can take over what exists.
    """
    lines = "\n".join(output.strip().splitlines()[-TAIL:])
    if EXPIRY_MESSAGE.search(output):  # before the events are read: they may be of an earlier operation
        problem = f"the credentials expired during cdk deploy {stack}; CloudFormation continues without them"
        return CannotRunError(f"{problem}:\n{lines}", f"{SIGN_IN_REMEDY}; {where_logs}")
    if COLLISION.search(output):  # before the events are read: they are of the other deploy
        problem = f"another deploy changed {stack} at the same time; this one changed nothing of it"
        return CannotRunError(
            f"{problem}:\n{lines}", f"wait until it has ended; if {DEPLOY_REMEDY}; {where_logs}"
        )
    if EARLY_VALIDATION.search(output):  # before the events are read: nothing began, so there is none
        remedy = TAKE_OVER.format(environment=foundation_of) if foundation_of else DELETE_OR_RENAME
        conflicts = _name_conflicts(stack, output, f"nothing was changed; {remedy}; {where_logs}")
        if conflicts:
            return FindingsError(conflicts)
        problem = f"CloudFormation refused the change set of {stack}, and nothing was changed:\n{lines}"
        return CannotRunError(problem, where_logs)
    if PARAMETER in output:  # likewise: this deploy changed nothing
        return CannotRunError(f"cdk deploy {stack} failed:\n{lines}", f"{_older(stack)}{where_logs}")
    stack_after = (
        "nothing was deployed before; the stack was rolled back"
        if is_new
        else "what was served before is still served"
    )
    hint = f"{stack_after}; {where_logs}"
    findings = failed_resources(cloudformation, stack, stack, hint, since=since)
    if findings:
        return FindingsError(findings)
    return CannotRunError(f"cdk deploy {stack} failed:\n{lines}", where_logs)


def is_of_new_role(cloudformation: CloudFormationClient, stack: str, failure: FindingsError) -> bool:
    """Whether a stack was not created only because SageMaker could not assume the role that it had created.

    IAM may show a new role to other services after some seconds.
    """
    if any(
        finding.code != FAILED_RESOURCE for finding in failure.findings
    ):  # the events are of an earlier deploy
        return False
    failures = last_operation(cloudformation, stack).failures
    if not failures or not all(failure.kind == MODEL and failure.is_of_role for failure in failures):
        return False
    stack_after = find_stack(cloudformation, stack)
    return stack_after is not None and stack_after.state is StackState.NOT_CREATED


def failed_resources(
    cloudformation: CloudFormationClient, stack_id: str, stack: str, hint: str, *, since: str | None = None
) -> list[Finding]:
    """The failures of the stack's last operation, each once; `stack_id` also finds a deleted stack.

    `since` is the id of an event: what is older is left out.
    """
    try:
        failures = last_operation(cloudformation, stack_id, since=since).failures
    except ClientError:
        return []
    return list(dict.fromkeys(_finding(failure, stack, hint) for failure in failures))


def last_operation(
    cloudformation: CloudFormationClient,
    stack_id: str,
    *,
    before_deletion: bool = False,
    since: str | None = None,
) -> Operation:
    """A stack's last operation, or the one before its deletion; events come newest first.

    If nothing began after the event with the id `since`, the operation is empty.

    Raises:
        ClientError: access is denied.
    """
    failures = dict[Failure, None]()
    end: datetime | None = None
    for page in cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_id):
        for event in page["StackEvents"]:
            if event["EventId"] == since:
                return Operation(began=None, failures=tuple(failures), end=end)
            status, reason = event.get("ResourceStatus", ""), event.get("ResourceStatusReason", "")
            if event.get("PhysicalResourceId") == event["StackId"]:
                if status == ROLLING_BACK:
                    failures.clear()
                elif reason == FIRST_EVENT_REASON and not (before_deletion and status == DELETE_IN_PROGRESS):
                    began = event.get("Timestamp")
                    return Operation(began=began, failures=tuple(failures), end=end)
                elif end is None and stack_status(status).state is not StackState.UNDER_WAY:
                    end = event.get("Timestamp")
            elif status.endswith("_FAILED") and not reason.endswith(CANCELLATION):
                failures[Failure(kind=event.get("ResourceType", ""), reason=reason)] = None
    return Operation(began=None, failures=tuple(failures), end=end)


def _name_conflicts(stack: str, output: str, hint: str) -> list[Finding]:
    """A finding for each name that exists, or one for all if the CDK could not list them."""
    names = dict.fromkeys(EXISTING_NAME.findall(" ".join(output.split())))
    messages = [f"{kind} {name} exists already" for kind, name in names]
    if NAME_VALIDATION in output and not names:
        messages = ["resources that it would create exist already"]
    return [
        Finding(code="FL614", message=f"{stack} cannot create: {message}", hint=hint) for message in messages
    ]


def _older(stack: str) -> str:
    """The way out if Foundation lacks what a stack needs; environments have no hyphen in their names."""
    return OLDER.format(environment=stack.removeprefix("triton-fleet-").partition("-")[0])


def _finding(failure: Failure, stack: str, hint: str) -> Finding:
    kind, reason = failure.kind, failure.reason
    remedy = known_remedy(failure.own_reason, EvidenceOrigin.EVENT)
    way_out = f"{remedy}; " if remedy else ""
    if kind == ENDPOINT and ALARM in reason.lower():
        way_out = EMERGENCY
    if any(part in reason for part in FOUNDATION):
        way_out = _older(stack)
    return Finding(
        code=FAILED_RESOURCE, message=f"{kind} of {stack}: {failure.own_reason}", hint=f"{way_out}{hint}"
    )
