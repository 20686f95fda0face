"""CloudFormation's own detection of drift, for the resource types of which it can read everything.

Source: CloudFormation API reference, DetectStackDrift and DescribeStackDriftDetectionStatus: a detection that
failed for some resources has results of the others. Drift-aware change sets: guide, drift-aware-change-sets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.declaration import DeclaredStack, declared_stack
from triton_fleet.aws.drift.difference import ABSENT, DELETION, Comparison, Difference
from triton_fleet.aws.drift.hosting import ENDPOINT, SUBJECT, definitions, endpoints, variants
from triton_fleet.aws.drift.monitoring import alarms, dashboards, log_groups, roles
from triton_fleet.aws.drift.scaling import scaling
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS, described_endpoint
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.stack import LiveStack, find_stack, poll, settled_stack
from triton_fleet.catalog.cloudformation import StackState, detected_types
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceDriftTypeDef

CAPABILITIES: Any = ["CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"]
REASON = 200
"""Signs of a reason that are shown."""


def detect_drift(access: Access, stack: LiveStack, declaration: DeclaredStack) -> Iterator[Comparison]:
    """The drift of the types that CloudFormation reads; nothing is asked for a stack that has none.

    Raises:
        CannotRunError: CloudFormation could not read every resource, as for a missing permission.
    """
    types = detected_types()
    ids = [resource.logical_id for resource in declaration.resources if resource.type in types]
    if not ids:
        return
    cloudformation = access.client("cloudformation")
    detection = cloudformation.detect_stack_drift(StackName=stack.id, LogicalResourceIds=ids)
    id = detection["StackDriftDetectionId"]
    status = poll(
        lambda: cloudformation.describe_stack_drift_detection_status(StackDriftDetectionId=id),
        lambda answer: answer["DetectionStatus"] == "DETECTION_IN_PROGRESS",
    )
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
            "use credentials that may read its resources: the role of drift in `fleet docs access` may",
        )


def _drifts(cloudformation: CloudFormationClient, stack: LiveStack) -> Iterator[StackResourceDriftTypeDef]:
    arguments: Any = {"StackName": stack.id, "StackResourceDriftStatusFilters": ["DELETED", "MODIFIED"]}
    while True:  # botocore has no paginator of it
        page = cloudformation.describe_stack_resource_drifts(**arguments)
        yield from page["StackResourceDrifts"]
        if "NextToken" not in page:
            return
        arguments["NextToken"] = page["NextToken"]


def _differences(drift: StackResourceDriftTypeDef) -> Iterator[Difference]:
    if drift["StackResourceDriftStatus"] == "DELETED":
        yield DELETION
    for difference in drift.get("PropertyDifferences", []):
        kind = difference["DifferenceType"]
        yield Difference(
            path=tuple(difference["PropertyPath"].strip("/").split("/")),
            template_value=ABSENT if kind == "ADD" else difference["ExpectedValue"],
            actual=ABSENT if kind == "REMOVE" else difference["ActualValue"],
        )


def _restore(cloudformation: CloudFormationClient, stack: LiveStack) -> None:
    """Have CloudFormation bring the stack's resources back to its template.

    Raises:
        CannotRunError: it refuses, or an update fails.
    """
    (description,) = cloudformation.describe_stacks(StackName=stack.id)["Stacks"]
    parameters: Any = [
        {"ParameterKey": parameter["ParameterKey"], "UsePreviousValue": True}
        for parameter in description.get("Parameters", [])
    ]
    name = cloudformation.create_change_set(
        StackName=stack.id,
        ChangeSetName=f"fleet-drift-{uuid4().hex[:12]}",
        ChangeSetType="UPDATE",
        UsePreviousTemplate=True,
        Parameters=parameters,
        Tags=description.get("Tags", []),
        Capabilities=CAPABILITIES,
        DeploymentMode="REVERT_DRIFT",
    )["Id"]
    change_set = poll(
        lambda: cloudformation.describe_change_set(ChangeSetName=name),
        lambda answer: answer["Status"].endswith(("_PENDING", "_IN_PROGRESS")),
    )
    if change_set["Status"] != "CREATE_COMPLETE":
        cloudformation.delete_change_set(ChangeSetName=name)
        reason = change_set.get("StatusReason", change_set["Status"])
        raise CannotRunError(f"CloudFormation cannot revert the drift of {stack.name}: {reason}")
    cloudformation.execute_change_set(ChangeSetName=name)
    after = settled_stack(cloudformation, stack)
    if after is None or after.state is not StackState.READY or "ROLLBACK" in after.status:
        raise CannotRunError(f"the drift of {stack.name} was not reverted: {after or 'it was deleted'}")


PAUSES = (2, 5)
"""Seconds until a comparison is repeated: IAM and Application Auto Scaling may answer with the old state."""
MAX_PARALLEL_STACKS = 8
"""Stacks at one time; AWS throttles more, and botocore retries."""


@dataclass(frozen=True, kw_only=True)
class StackDrift:
    """The differences of one stack; `endpoint` is None for Foundation.

    `busy` is why nothing was compared, as an update runs; `problem` is what could not be read.
    """

    endpoint: str | None
    stack: LiveStack
    comparisons: tuple[Comparison, ...] = ()
    busy: str = ""
    problem: CannotRunError | None = None

    @property
    def title(self) -> str:
        """The name for people."""
        return self.endpoint or "Foundation"

    @property
    def is_restorable(self) -> bool:
        """Whether all of it can be brought back, rather than by a new stack alone."""
        return all(comparison.restore is not None for comparison in self.comparisons)

    @property
    def change_texts(self) -> set[tuple[str, str]]:
        """All that differs, in words: subjects with their differences; AWS lists them in no fixed order."""
        return {
            (comparison.subject, str(difference))
            for comparison in self.comparisons
            for difference in comparison.differences
        }


def stack_drifts(access: Access, stacks: Sequence[tuple[str | None, LiveStack]]) -> list[StackDrift]:
    """Compare stacks with what runs, side by side.

    Raises:
        CannotRunError: AWS does not answer.
    """
    return all_in_parallel(stacks, lambda pair: _stack_drift(access, *pair), MAX_PARALLEL_STACKS)


def restore_stack(access: Access, drift: StackDrift) -> StackDrift:
    """Restore everything that is declared, in the order in which one thing needs another.

    The stack is compared before, because a deploy may have run since a person was asked, and afterwards.

    Returns:
        What differs afterwards; `busy` while the endpoint's own rollout runs.

    Raises:
        CannotRunError: an update runs, something else differs by now, or AWS refuses.
    """
    with aws_errors_as_findings():
        stack = find_stack(access.client("cloudformation"), drift.stack.id)
        if stack is None:
            raise CannotRunError(f"{drift.title} is not reverted: its stack was deleted", "deploy it again")
        current = _stack_drift(access, drift.endpoint, stack)
        if current.busy or current.change_texts != drift.change_texts:
            because = current.busy or "what differs is not what was shown"
            refusal = CannotRunError(f"{drift.title} is not reverted: {because}", "run the command again")
            raise current.problem or refusal
        for restore in dict.fromkeys(comparison.restore for comparison in current.comparisons):
            if restore is not None:
                restore()
    after = _stack_drift(access, drift.endpoint, stack)
    for seconds in PAUSES:
        if not after.comparisons or not after.change_texts <= current.change_texts:
            break
        time.sleep(seconds)
        after = _stack_drift(access, drift.endpoint, stack)
    return after


def _stack_drift(access: Access, endpoint: str | None, stack: LiveStack) -> StackDrift:
    if stack.state in (StackState.UNDER_WAY, StackState.PLANNED, StackState.NOT_CREATED):
        return StackDrift(endpoint=endpoint, stack=stack, busy=str(stack))
    if stack.state is not StackState.READY:
        unclear = CannotRunError(f"{stack}: what it declares is not certain", stack.remedy)
        return StackDrift(endpoint=endpoint, stack=stack, problem=unclear)
    results: list[Comparison] = []
    problem: CannotRunError | None = None
    try:
        with aws_errors_as_findings():
            declaration = declared_stack(access, stack)
            for resource in declaration.of_type(ENDPOINT):
                live = described_endpoint(access.client("sagemaker"), resource.name)
                if live is not None and live["EndpointStatus"] in STATUSES_IN_PROGRESS:
                    busy = f"the endpoint is {live['EndpointStatus']}"
                    return StackDrift(endpoint=endpoint, stack=stack, busy=busy)
            for comparisons in (
                definitions(access, declaration),
                endpoints(access, declaration),
                scaling(access, declaration, variants(declaration)),
                alarms(access, declaration),
                dashboards(access, declaration),
                log_groups(access, declaration),
                roles(access, declaration),
                detect_drift(access, stack, declaration),
            ):
                results.extend(filter(_differs, comparisons))  # what was found before an error counts
                if any(
                    resource.subject == SUBJECT and resource.differences == (DELETION,)
                    for resource in results
                ):
                    break  # scaling and log groups went with it, and can only follow it
    except CannotRunError as error:
        problem = error
    return StackDrift(endpoint=endpoint, stack=stack, comparisons=tuple(results), problem=problem)


def _differs(comparison: Comparison) -> bool:
    return bool(comparison.differences)
