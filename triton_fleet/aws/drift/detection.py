"""CloudFormation's own detection of drift, for the resource types of which it can read everything.

Source: CloudFormation API reference, DetectStackDrift and DescribeStackDriftDetectionStatus: a detection that
failed for some resources has results of the others. Drift-aware change sets: guide, drift-aware-change-sets.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.comparison import Comparison
from triton_fleet.aws.drift.declaration import DeclaredStack
from triton_fleet.aws.drift.difference import ABSENT, DELETED, Difference
from triton_fleet.awsapi.stack import LiveStack, pauses, settled_stack
from triton_fleet.catalog.cloudformation import StackState, detected_types
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceDriftTypeDef

CAPABILITIES: Any = ["CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"]
REASON = 200
"""Signs of a reason that are shown."""


def detected(access: Access, stack: LiveStack, declared: DeclaredStack) -> Iterator[Comparison]:
    """The drift of the types that CloudFormation reads; nothing is asked for a stack that has none.

    Raises:
        CannotRunError: CloudFormation could not read every resource, as for a missing permission.
    """
    types = detected_types()
    ids = [resource.logical_id for resource in declared.resources if resource.type in types]
    if not ids:
        return
    cloudformation = access.client("cloudformation")
    started = cloudformation.detect_stack_drift(StackName=stack.id, LogicalResourceIds=ids)
    status = _ended(cloudformation, started["StackDriftDetectionId"])
    restore = partial(_restore, cloudformation, stack)
    for drift in _drifts(cloudformation, stack):
        if drift["LogicalResourceId"] in ids:
            noun = drift["ResourceType"].rpartition("::")[2].lower()
            name = drift.get("PhysicalResourceId", drift["LogicalResourceId"]).rpartition(":")[2]
            yield Comparison(
                subject=f"{noun} {name}", differences=tuple(_differences(drift)), restore=restore
            )
    if status["DetectionStatus"] == "DETECTION_FAILED":
        reason = status.get("DetectionStatusReason", "")[:REASON]
        raise CannotRunError(
            f"CloudFormation could not read all of {stack.name}: {reason}",
            "use credentials that may read its resources: the role of drift in docs/access.md may",
        )


def _ended(cloudformation: CloudFormationClient, id: str) -> Mapping[str, Any]:
    pause, seconds = threading.Event(), pauses()
    while True:
        status = cloudformation.describe_stack_drift_detection_status(StackDriftDetectionId=id)
        if status["DetectionStatus"] != "DETECTION_IN_PROGRESS":
            return status
        pause.wait(next(seconds))


def _drifts(cloudformation: CloudFormationClient, stack: LiveStack) -> Iterator[StackResourceDriftTypeDef]:
    asked: Any = {"StackName": stack.id, "StackResourceDriftStatusFilters": ["DELETED", "MODIFIED"]}
    while True:  # botocore has no paginator of it
        page = cloudformation.describe_stack_resource_drifts(**asked)
        yield from page["StackResourceDrifts"]
        if "NextToken" not in page:
            return
        asked["NextToken"] = page["NextToken"]


def _differences(drift: StackResourceDriftTypeDef) -> Iterator[Difference]:
    if drift["StackResourceDriftStatus"] == "DELETED":
        yield DELETED
    for each in drift.get("PropertyDifferences", []):
        kind = each["DifferenceType"]
        yield Difference(
            path=tuple(each["PropertyPath"].strip("/").split("/")),
            declared=ABSENT if kind == "ADD" else each["ExpectedValue"],
            actual=ABSENT if kind == "REMOVE" else each["ActualValue"],
        )


def _restore(cloudformation: CloudFormationClient, stack: LiveStack) -> None:
    """Have CloudFormation bring the stack's resources back to its template.

    Raises:
        CannotRunError: it refuses, or an update fails.
    """
    (found,) = cloudformation.describe_stacks(StackName=stack.id)["Stacks"]
    parameters: Any = [
        {"ParameterKey": each["ParameterKey"], "UsePreviousValue": True}
        for each in found.get("Parameters", [])
    ]
    name = cloudformation.create_change_set(
        StackName=stack.id,
        ChangeSetName=f"fleet-drift-{uuid4().hex[:12]}",
        ChangeSetType="UPDATE",
        UsePreviousTemplate=True,
        Parameters=parameters,
        Tags=found.get("Tags", []),
        Capabilities=CAPABILITIES,
        DeploymentMode="REVERT_DRIFT",
    )["Id"]
    change_set = _made(cloudformation, name)
    if change_set["Status"] != "CREATE_COMPLETE":
        cloudformation.delete_change_set(ChangeSetName=name)
        reason = change_set.get("StatusReason", change_set["Status"])
        raise CannotRunError(f"CloudFormation cannot revert the drift of {stack.name}: {reason}")
    cloudformation.execute_change_set(ChangeSetName=name)
    after = settled_stack(cloudformation, stack)
    if after is None or after.state is not StackState.READY or "ROLLBACK" in after.status:
        raise CannotRunError(f"the drift of {stack.name} was not reverted: {after or 'it was deleted'}")


def _made(cloudformation: CloudFormationClient, name: str) -> Mapping[str, Any]:
    pause, seconds = threading.Event(), pauses()
    while True:
        found = cloudformation.describe_change_set(ChangeSetName=name)
        if not found["Status"].endswith(("_PENDING", "_IN_PROGRESS")):
            return found
        pause.wait(next(seconds))
