"""Whether the endpoints can be created or updated in their current state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.stacks import stack_finding
from triton_fleet.aws.preflight.subject import AT_ONCE, Subject
from triton_fleet.awsapi.describe import UNDER_WAY, described_endpoint
from triton_fleet.awsapi.stack import NOTHING_OF_IT, find_stack
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_sagemaker.client import SageMakerClient

IN_SERVICE = "InService"
WAIT = "SageMaker refuses updates until it has finished; `fleet deploy` waits for it"
GONE = "wait until it is deleted, then deploy it"
DELETE_FIRST = "it can only be deleted: `fleet destroy {name} --env {environment}`, then deploy it"
HINTS = {
    "Deleting": GONE,
    "Failed": DELETE_FIRST,
    "OutOfService": "find the reason in its log, and bring it back into service before an update",
    "UpdateRollbackFailed": "old and new instances serve side by side: see its FailureReason and the"
    " developer guide's page on rolling deployments",
}
"""By status; all other statuses mean an operation in progress. Source: botocore, DescribeEndpoint."""


def endpoints(subject: Subject) -> Iterator[CheckResult]:
    """The state of each endpoint and of its stack."""
    sagemaker, cloudformation = subject.access.client("sagemaker"), subject.access.client("cloudformation")
    yield from all_in_parallel(
        subject.endpoints, lambda each: _endpoint(subject, sagemaker, cloudformation, each), AT_ONCE
    )


def _endpoint(
    subject: Subject,
    sagemaker: SageMakerClient,
    cloudformation: CloudFormationClient,
    endpoint: ResolvedEndpoint,
) -> CheckResult:
    name, what = endpoint.name, f"endpoint {endpoint.name}"
    stack, status = find_stack(cloudformation, endpoint.stack), _status(sagemaker, name)
    not_ready = stack_finding(subject, stack, name) if stack is not None else None
    if stack is not None and not_ready is not None:
        return CheckResult(what=what, text=f"{endpoint.stack} is in {stack.status}", findings=(not_ready,))
    if status is None:
        return CheckResult(what=what, text="not deployed yet")
    if stack is None or stack.state in NOTHING_OF_IT:
        message = f"the account has an endpoint {name!r} that does not belong to the stack {endpoint.stack}"
        hint = "rename the endpoint in its spec, or delete the one in the account"
        finding = subject.of_spec(name, ("endpoint",), "FL632", message, hint)
        return CheckResult(what=what, text="the name is taken", findings=(finding,))
    if status == IN_SERVICE:
        return CheckResult(what=what, text=status)
    hint = HINTS.get(status, WAIT).format(name=name, environment=subject.deployment.environment)
    message = f"the endpoint {name!r} is {status}"
    finding = subject.of_spec(name, ("endpoint",), "FL631", message, hint, warns=status in UNDER_WAY)
    return CheckResult(what=what, text=status, findings=(finding,))


def _status(sagemaker: SageMakerClient, name: str) -> str | None:
    found = described_endpoint(sagemaker, name)
    return None if found is None else found["EndpointStatus"]
