"""Reads what AWS shows of an endpoint: stack, description, calls, the newest lines of logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.calls import Calls, read_calls
from triton_fleet.aws.deploy.failed_rollback import failed_rollback
from triton_fleet.aws.deploy.failures import last_operation
from triton_fleet.aws.doctor.diagnosis import reason_of_failures
from triton_fleet.aws.doctor.observation import Observation, SeenEndpoint, SeenLog, SeenStack
from triton_fleet.aws.running_configuration import declared_configuration, endpoint_stacks, unknown_stack
from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.awsapi.errors import DENIAL_CODES, SuppressErrors, answered_at
from triton_fleet.awsapi.stack import DELETE_COMPLETE, LiveStack, find_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.context.metrics import container_log_group
from triton_fleet.core.formats import plain_line
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import CannotRunError, Finding
from triton_fleet.spec.deployment import Deployment

MAX_STREAMS = 50
"""The most that one answer of DescribeLogStreams has."""
STREAMS_OF_A_VARIANT = 3
"""The newest instances of each variant are read: a failed deploy started them last."""
EMPTY_PAGES = 3
"""How many empty answers are followed; CloudWatch sends some before it sends lines."""


def read_log(logs: Any, group: str, of: str, since: datetime, *, about: str = "") -> SeenLog:
    """A log group's lines since a time, the newest 1 MiB of each stream; with `about`, only lines with it.

    Raises:
        ClientError: access is denied.
    """
    start, names = int(since.timestamp() * 1000), list[str]()
    with SuppressErrors("ResourceNotFoundException"):
        names = list(_newest(logs, group))
    read = {name: tuple(line for line in _lines(logs, group, name, start) if about in line) for name in names}
    return SeenLog(group=group, of=of, streams={name: lines for name, lines in read.items() if lines})


def _newest(logs: Any, group: str) -> Iterator[str]:
    """The newest streams of each variant by creation; a stream's name is VARIANT/INSTANCE.

    The time of the last line would not do: old instances that still serve have the newest lines, and
    CloudWatch updates that time late.
    """
    streams = logs.describe_log_streams(
        logGroupName=group, orderBy="LastEventTime", descending=True, limit=MAX_STREAMS
    )["logStreams"]
    by_variant = defaultdict[str, list[str]](list)
    for stream in sorted(streams, key=lambda item: item["creationTime"], reverse=True):
        by_variant[stream["logStreamName"].partition("/")[0]].append(stream["logStreamName"])
    for names in by_variant.values():
        yield from names[:STREAMS_OF_A_VARIANT]


def _lines(logs: Any, group: str, stream: str, start: int) -> list[str]:
    token: dict[str, str] = {}
    for _ in range(EMPTY_PAGES):
        page = logs.get_log_events(
            logGroupName=group, logStreamName=stream, startTime=start, startFromHead=False, **token
        )
        if page["events"]:
            return [plain_line(line) for event in page["events"] for line in event["message"].splitlines()]
        token = {"nextToken": page["nextBackwardToken"]}
    return []


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
    """The observation of an endpoint in AWS; denied actions are noted.

    Raises:
        FindingsError: the endpoint is not deployed, and no deploy of it failed.
        CannotRunError: everything is denied.
        ClientError: AWS refuses for another reason.
    """
    denials = list[str]()
    stack_name = stack_of(access.deployment, name)
    stack = ask_service("cloudformation", denials, lambda: _seen_stack(access, stack_name))
    endpoint = ask_service("sagemaker", denials, lambda: _seen_endpoint(access, name))
    if stack is None and endpoint is None and not denials:
        raise unknown_stack(
            access.deployment, name, endpoint_stacks(access.client("cloudformation"), access.deployment)
        )
    environment = access.deployment.environment
    observation = Observation(
        name=name, environment=environment, stack=stack, endpoint=endpoint, denials=tuple(denials)
    )
    # AWS's clock, as for logs and stacks; GetCallerIdentity needs no permission.
    current_time = answered_at(access.client("sts").get_caller_identity())
    since = _since(observation, current_time)
    logs = tuple(_logs(access, name, stack, since, denials))
    if stack is None and endpoint is None and not logs:
        problem = f"these credentials can read nothing about {name}: no permission for {', '.join(denials)}"
        raise CannotRunError(problem, "use credentials with these permissions")
    calls = ask_service("cloudwatch", denials, lambda: _calls(access, observation, logs, current_time))
    return replace(observation, logs=logs, calls=calls, since=since, denials=tuple(dict.fromkeys(denials)))


def _calls(
    access: Access, observation: Observation, logs: Sequence[SeenLog], current_time: datetime
) -> Calls | None:
    """The calls since the last deploy ended, at most of the last hour: those before it had another model."""
    if observation.endpoint is None:
        return None
    end = observation.stack.end if observation.stack is not None else None
    since = current_time - RECENT if end is None else max(end, current_time - RECENT)
    calls = read_calls(
        access.client("cloudwatch"), observation.name, observation.endpoint.variants, since, current_time
    )
    lines = (line for log in logs for _, line in log.lines)
    return replace(calls, reason=reason_of_failures(lines)) if calls.failure_count else calls


def _since(observation: Observation, current_time: datetime) -> datetime:
    """The time from which on a log is relevant; logs of earlier deploys are not."""
    began = observation.stack.began if observation.stack is not None else None
    if observation.has_failed:
        return current_time - UNKNOWN if began is None else began
    return current_time - RECENT if began is None else max(began, current_time - RECENT)


def _seen_stack(access: Access, name: str) -> SeenStack | None:
    """The stack with a name, or the last deleted one if its deploy had failed."""
    cloudformation = access.client("cloudformation")
    live = find_stack(cloudformation, name)
    stack_id = live.id if live is not None else _last_deleted_stack(access, name)
    if stack_id is None:
        return None
    operation = last_operation(cloudformation, stack_id, before_deletion=live is None)
    if live is None and not operation.failures:
        return None
    return SeenStack(
        name=name,
        status=live.status if live is not None else DELETE_COMPLETE,
        reason=live.reason if live is not None else "",
        began=operation.began,
        end=operation.end,
        failures=operation.failures,
        declares=declared_configuration(cloudformation, stack_id) if live is not None else None,
        rollback=failed_rollback(access, live)
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
    summaries = [
        summary
        for page in pages.paginate(
            StackStatusFilter=[DELETE_COMPLETE], PaginationConfig={"MaxItems": 100 * PAGES}
        )
        for summary in page["StackSummaries"]
        if summary["StackName"] == name
    ]
    latest = max(summaries, key=lambda summary: summary["CreationTime"], default=None)
    return None if latest is None else latest["StackId"]


def _seen_endpoint(access: Access, name: str) -> SeenEndpoint | None:
    description = described_endpoint(access.client("sagemaker"), name)
    if description is None:
        return None
    return SeenEndpoint(
        status=description["EndpointStatus"],
        reason=description.get("FailureReason", ""),
        config=description["EndpointConfigName"],
        is_pending="PendingDeploymentSummary" in description,
        variants=tuple(variant["VariantName"] for variant in description.get("ProductionVariants", ())),
    )


def _logs(
    access: Access, name: str, stack: SeenStack | None, since: datetime, denials: list[str]
) -> Iterator[SeenLog]:
    """The container's log, and that of the endpoint check if it failed."""
    groups = {container_log_group(name): (CONTAINER, "")}
    if stack is not None and any(failure.kind == CHECK for failure in stack.failures):
        check_groups = ask_service("cloudformation", denials, lambda: _check_logs(access, access.deployment))
        groups |= dict.fromkeys(check_groups or (), (FUNCTION, name))
    logs = access.client("logs")
    for group, (of, about) in groups.items():
        read = ask_service("logs", denials, partial(read_log, logs, group, of, since, about=about))
        if read is not None:
            yield read


def _check_logs(access: Access, deployment: Deployment) -> list[str]:
    logs = access.client("cloudformation").describe_stack_resources(StackName=deployment.stack)[
        "StackResources"
    ]
    return [
        log["PhysicalResourceId"]
        for log in logs
        if log["ResourceType"] == LOG_GROUP and log["LogicalResourceId"].startswith(CHECK_LOG)
    ]


T = TypeVar("T")


def ask_service(service: str, denials: list[str], ask: Callable[[], T]) -> T | None:
    """A service's answer; if access is denied, None, and the IAM action is noted.

    Raises:
        ClientError: the call is refused for another reason.
    """
    try:
        return ask()
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIAL_CODES:
            raise
        denials.append(f"{service}:{error.operation_name}")
        return None
