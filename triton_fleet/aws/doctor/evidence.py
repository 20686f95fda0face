"""Reads the places that show why an endpoint does not answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.calls import Calls, read_calls
from triton_fleet.aws.deploy.failed_rollback import failed_rollback
from triton_fleet.aws.deploy.failures import last_operation
from triton_fleet.aws.doctor.causes import reason_of_failures
from triton_fleet.aws.doctor.logs import read_log
from triton_fleet.aws.doctor.observation import Observation, SeenEndpoint, SeenLog, SeenStack
from triton_fleet.aws.fleet_stacks import endpoint_stacks, unknown_stack
from triton_fleet.aws.running_configuration import declared_configuration
from triton_fleet.awsapi.clock import answered_at
from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.awsapi.errors import DENIED
from triton_fleet.awsapi.stack import DELETED, LiveStack, find_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.context.triton_metrics import container_log_group
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import CannotRunError, Finding
from triton_fleet.spec.deployment import Deployment

RECENT = timedelta(hours=1)
"""How far back the log of a healthy endpoint is read; older lines do not matter."""
UNKNOWN = timedelta(days=1)
"""How far back logs are read if the start of the last deploy is unknown."""
CHECK, CHECK_LOG = "Custom::EndpointCheck", "EndpointCheckLog"
"""The endpoint check's type, and the prefix of its log group's logical id in Foundation."""
LOG_GROUP = "AWS::Logs::LogGroup"
PAGES = 20
"""A status in the list of stacks, which keeps deleted ones for 90 days."""
CONTAINER, FUNCTION = "the container's log", "the log of the endpoint check"


def evidence(access: Access, name: str) -> Observation:
    """What AWS shows of an endpoint; denied actions are noted.

    Raises:
        FindingsError: the endpoint is not deployed, and no deploy of it failed.
        CannotRunError: everything is denied.
        ClientError: AWS refuses for another reason.
    """
    missing = list[str]()
    wanted = stack_of(access.deployment, name)
    stack = unless_denied("cloudformation", missing, lambda: _seen_stack(access, wanted))
    endpoint = unless_denied("sagemaker", missing, lambda: _seen_endpoint(access, name))
    if stack is None and endpoint is None and not missing:
        raise unknown_stack(
            access.deployment, name, endpoint_stacks(access.client("cloudformation"), access.deployment)
        )
    environment = access.deployment.environment
    seen = Observation(
        name=name, environment=environment, stack=stack, endpoint=endpoint, missing=tuple(missing)
    )
    # AWS's clock, as for logs and stacks; GetCallerIdentity needs no permission.
    now = answered_at(access.client("sts").get_caller_identity())
    since = _since(seen, now)
    logs = tuple(_logs(access, name, stack, since, missing))
    if stack is None and endpoint is None and not logs:
        problem = f"these credentials can read nothing about {name}: no permission for {', '.join(missing)}"
        raise CannotRunError(problem, "use credentials with these permissions")
    calls = unless_denied("cloudwatch", missing, lambda: _calls(access, seen, logs, now))
    return replace(seen, logs=logs, calls=calls, since=since, missing=tuple(dict.fromkeys(missing)))


def _calls(access: Access, seen: Observation, logs: Sequence[SeenLog], now: datetime) -> Calls | None:
    """The calls since the last deploy ended, at most of the last hour: those before it had another model."""
    if seen.endpoint is None:
        return None
    ended = seen.stack.ended if seen.stack is not None else None
    since = now - RECENT if ended is None else max(ended, now - RECENT)
    calls = read_calls(access.client("cloudwatch"), seen.name, seen.endpoint.variants, since, now)
    lines = (line for log in logs for _, line in log.lines)
    return replace(calls, reason=reason_of_failures(lines)) if calls.failed else calls


def _since(seen: Observation, now: datetime) -> datetime:
    """The time from which on a log is relevant; logs of earlier deploys are not."""
    began = seen.stack.began if seen.stack is not None else None
    if seen.failed:
        return now - UNKNOWN if began is None else began
    return now - RECENT if began is None else max(began, now - RECENT)


def _seen_stack(access: Access, name: str) -> SeenStack | None:
    """The stack with a name, or the last deleted one if its deploy had failed."""
    cloudformation = access.client("cloudformation")
    live = find_stack(cloudformation, name)
    found = live.id if live is not None else _last_deleted_stack(access, name)
    if found is None:
        return None
    operation = last_operation(cloudformation, found, before_deletion=live is None)
    if live is None and not operation.failures:
        return None
    return SeenStack(
        name=name,
        status=live.status if live is not None else DELETED,
        reason=live.reason if live is not None else "",
        began=operation.began,
        ended=operation.ended,
        failures=operation.failures,
        declares=declared_configuration(cloudformation, found) if live is not None else None,
        stopped=failed_rollback(access, live)
        if live is not None and live.state is StackState.STOPPED
        else None,
        stuck=_stuck(live) if live is not None else None,
    )


def _stuck(stack: LiveStack) -> Finding | None:
    """The finding for a stack that no deploy can repair."""
    if stack.state is not StackState.STUCK:
        return None
    return Finding(code="FL622", message=str(stack), hint=stack.remedy)


def _last_deleted_stack(access: Access, name: str) -> str | None:
    """The id of the stack with that name that was deleted last."""
    pages = access.client("cloudformation").get_paginator("list_stacks")
    found = [
        each
        for page in pages.paginate(StackStatusFilter=[DELETED], PaginationConfig={"MaxItems": 100 * PAGES})
        for each in page["StackSummaries"]
        if each["StackName"] == name
    ]
    latest = max(found, key=lambda each: each["CreationTime"], default=None)
    return None if latest is None else latest["StackId"]


def _seen_endpoint(access: Access, name: str) -> SeenEndpoint | None:
    found = described_endpoint(access.client("sagemaker"), name)
    if found is None:
        return None
    return SeenEndpoint(
        status=found["EndpointStatus"],
        reason=found.get("FailureReason", ""),
        config=found["EndpointConfigName"],
        pending="PendingDeploymentSummary" in found,
        variants=tuple(each["VariantName"] for each in found.get("ProductionVariants", ())),
    )


def _logs(
    access: Access, name: str, stack: SeenStack | None, since: datetime, missing: list[str]
) -> Iterator[SeenLog]:
    """The container's log, and that of the endpoint check if it failed."""
    groups = {container_log_group(name): (CONTAINER, "")}
    if stack is not None and any(failure.kind == CHECK for failure in stack.failures):
        found = unless_denied("cloudformation", missing, lambda: _check_logs(access, access.deployment))
        groups |= dict.fromkeys(found or (), (FUNCTION, name))
    logs = access.client("logs")
    for group, (of, about) in groups.items():
        read = unless_denied("logs", missing, partial(read_log, logs, group, of, since, about=about))
        if read is not None:
            yield read


def _check_logs(access: Access, deployment: Deployment) -> list[str]:
    logs = access.client("cloudformation").describe_stack_resources(StackName=deployment.stack)[
        "StackResources"
    ]
    return [
        each["PhysicalResourceId"]
        for each in logs
        if each["ResourceType"] == LOG_GROUP and each["LogicalResourceId"].startswith(CHECK_LOG)
    ]


T = TypeVar("T")


def unless_denied(service: str, missing: list[str], ask: Callable[[], T]) -> T | None:
    """A service's answer; if access is denied, None, and the IAM action is noted.

    Raises:
        ClientError: the call is refused for another reason.
    """
    try:
        return ask()
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIED:
            raise
        missing.append(f"{service}:{error.operation_name}")
        return None
