"""A stack whose rollback CloudFormation could not finish: what its endpoint runs, and how to continue.

If SageMaker has rolled an update back by itself, the endpoint already runs the previous configuration, and
CloudFormation's own attempt to restore it is refused. Such an endpoint is in the wanted state and may be
skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.failures import CANCELLATION, ENDPOINT, ROLLING_BACK
from triton_fleet.aws.running_configuration import is_same_configuration
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS, described_endpoint
from triton_fleet.awsapi.stack import LiveStack, last_event, poll, settled_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import CannotRunError, Finding, Severity
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import deploy_command

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceTypeDef

FAILURE_STATUS = "UPDATE_ROLLBACK_FAILED"
GUARD = "Custom::ScalingGuard"
IN_SERVICE = "InService"


@dataclass(frozen=True, kw_only=True)
class EndpointState:
    """An endpoint that could not be rolled back.

    Attributes:
        logical_id: Its name in the template.
        name: Its name in SageMaker.
        status: From DescribeEndpoint; empty if the endpoint does not exist.
        runs: The configuration that it runs.
        target: The one that CloudFormation tried to restore; None if the stack's events do not have it.
        is_scaling_aside: Whether a scaling guard of the stack registers scaling only after the rollback.
    """

    logical_id: str
    name: str
    status: str
    runs: str
    target: str | None
    is_scaling_aside: bool

    @property
    def is_back(self) -> bool:
        """Whether it runs what it ran before the update."""
        is_target = self.target is not None and is_same_configuration(self.target, self.runs)
        return is_target and self.status == IN_SERVICE

    def __str__(self) -> str:
        """As a sentence."""
        if not self.status:
            return f"the endpoint {self.name} no longer exists"
        runs = f"{self.name} is {self.status} with the configuration {self.runs}"
        if self.is_back:
            aside = "; it does not scale until the rollback is continued" if self.is_scaling_aside else ""
            return f"{runs}, the one from before the update: SageMaker rolled the update back{aside}"
        return f"{runs}; CloudFormation tried to restore {self.target or 'one that its events do not name'}"


@dataclass(frozen=True, kw_only=True)
class FailedRollback:
    """Where a rollback stopped: the logical ids of the failed resources with reasons, and its endpoint."""

    stack: LiveStack
    deployment: Deployment
    failures: dict[str, str]
    endpoint: EndpointState | None

    @property
    def resources_to_skip(self) -> list[str]:
        """The failed resources that may be skipped: those known to be in their previous state."""
        return [self.endpoint.logical_id] if self.endpoint is not None and self.endpoint.is_back else []

    @property
    def command(self) -> str:
        """The command that continues the rollback by hand."""
        options = f" --resources-to-skip {' '.join(self.resources_to_skip)}" if self.resources_to_skip else ""
        command = "aws cloudformation continue-update-rollback"
        return f"{command} --region {self.deployment.region} --stack-name {self.stack.name}{options}"

    @property
    def remedy(self) -> str:
        """An instruction for the user."""
        by_hand = f"run `{self.command}`, wait until it has ended, and deploy again"
        if self.resources_to_skip:
            name = self.stack.name.removeprefix(stack_of(self.deployment, ""))
            deploy = deploy_command(self.deployment.environment, name, "--yes")
            return (
                f"run {deploy}, which continues it without {' '.join(self.resources_to_skip)}; or {by_hand}"
            )
        if self.endpoint is None:
            return f"remove the cause that the reason names, then {by_hand}"
        if self.endpoint.status in STATUSES_IN_PROGRESS:
            return f"deploy again: it waits until {self.endpoint.name} is {IN_SERVICE}, then compares again"
        back = "update the endpoint to the configuration from before the update"
        if self.endpoint.status and self.endpoint.target is not None:
            command = (
                f"aws sagemaker update-endpoint --region {self.deployment.region}"
                f" --endpoint-name {self.endpoint.name} --endpoint-config-name {self.endpoint.target}"
            )
            back = f"restore it (`{command}`) and wait until it is {IN_SERVICE}"
        return f"nothing can be skipped: {back}, then deploy again"

    def __str__(self) -> str:
        """The problem, as a sentence."""
        endpoint_text = f"; {self.endpoint}" if self.endpoint is not None else ""
        problem = f"the stack {self.stack.name} is in {self.stack.status}: its rollback stopped"
        return f"{problem}{self._location}{endpoint_text}"

    @property
    def _location(self) -> str:
        resources = "; ".join(f"{logical_id} ({reason})" for logical_id, reason in self.failures.items())
        return f" at {resources}" if resources else f": {self.stack.reason}"

    @property
    def success(self) -> str:
        """The result of its continuation, as a sentence; only where something was skipped."""
        name = self.endpoint.name if self.endpoint is not None else self.stack.name
        return f"continued the rollback of {name}: it serves what it served before the update"

    def finding(self, *, is_continued: bool = False) -> Finding:
        """The same as a finding; a warning if the rollback was continued."""
        if not is_continued:
            return Finding(code="FL607", message=str(self), hint=self.remedy)
        message = f"{self.success}; CloudFormation's own rollback had stopped{self._location}"
        hint = "remove the cause of the failed update, then deploy again"
        return Finding(code="FL607", message=message, hint=hint, severity=Severity.WARNING)


def failed_rollback(access: Access, stack: LiveStack) -> FailedRollback:
    """Where the rollback of a stack in UPDATE_ROLLBACK_FAILED stopped.

    Raises:
        ClientError: access is denied.
    """
    cloudformation = access.client("cloudformation")
    resources = cloudformation.describe_stack_resources(StackName=stack.id)["StackResources"]
    # A resource cancelled because another one failed cannot be skipped; it is rolled back with the other.
    failures = [
        resource
        for resource in resources
        if resource["ResourceStatus"] == "UPDATE_FAILED"
        and not resource.get("ResourceStatusReason", "").endswith(CANCELLATION)
    ]
    is_guarded = any(resource["ResourceType"] == GUARD for resource in resources)
    return FailedRollback(
        stack=stack,
        deployment=access.deployment,
        failures={
            resource_failure["LogicalResourceId"]: resource_failure.get("ResourceStatusReason", "")
            for resource_failure in failures
        },
        endpoint=next(
            (
                _endpoint(access, stack, resource_failure, is_guarded=is_guarded)
                for resource_failure in failures
                if resource_failure["ResourceType"] == ENDPOINT
            ),
            None,
        ),
    )


def continue_rollback(access: Access, rollback: FailedRollback) -> LiveStack:
    """Continue the rollback without what may be skipped; wait for its end and return the stack.

    Raises:
        CannotRunError: the rollback has stopped again.
    """
    cloudformation = access.client("cloudformation")
    since = last_event(cloudformation, rollback.stack)
    cloudformation.continue_update_rollback(
        StackName=rollback.stack.id, ResourcesToSkip=rollback.resources_to_skip
    )
    stack = _over(cloudformation, rollback.stack, since)
    if stack is None:
        raise CannotRunError(f"the stack {rollback.stack.name} was deleted meanwhile", "deploy again")
    if stack.state is StackState.STOPPED:
        next_rollback = failed_rollback(access, stack)
        raise CannotRunError(str(next_rollback), next_rollback.remedy)
    return stack


def _over(cloudformation: CloudFormationClient, stack: LiveStack, since: str) -> LiveStack | None:
    """The stack after the operation that began after an event; DescribeStacks may report its start late."""

    def is_of_earlier_operation(current: LiveStack | None) -> bool:
        if current is None or current.state is not StackState.STOPPED:
            return False
        newest = cloudformation.describe_stack_events(StackName=stack.id)["StackEvents"][0]
        return newest["EventId"] == since or newest.get("ResourceStatus") != FAILURE_STATUS

    return poll(lambda: settled_stack(cloudformation, stack), is_of_earlier_operation)


def _endpoint(
    access: Access, stack: LiveStack, resource: StackResourceTypeDef, *, is_guarded: bool
) -> EndpointState:
    properties = _last_properties(access.client("cloudformation"), stack, resource["LogicalResourceId"])
    name = str(properties.get("EndpointName") or resource.get("PhysicalResourceId", "").rpartition("/")[2])
    description = described_endpoint(access.client("sagemaker"), name)
    return EndpointState(
        logical_id=resource["LogicalResourceId"],
        name=name,
        status=description["EndpointStatus"] if description is not None else "",
        runs=description["EndpointConfigName"] if description is not None else "",
        target=properties.get("EndpointConfigName"),
        is_scaling_aside=is_guarded,
    )


def _last_properties(
    cloudformation: CloudFormationClient, stack: LiveStack, logical_id: str
) -> dict[str, Any]:
    """The properties that the rollback tried to restore; none if no event has them."""
    for page in cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack.id):
        for event in page["StackEvents"]:
            if event.get("PhysicalResourceId") == event["StackId"]:
                if event.get("ResourceStatus") == ROLLING_BACK:
                    return {}
            elif event.get("LogicalResourceId") == logical_id and "ResourceProperties" in event:
                return _object(event["ResourceProperties"])
    return {}


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
