"""The current state of stacks in CloudFormation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final, TypeVar

from botocore.exceptions import ClientError

from triton_fleet.catalog.cloudformation import StackState, stack_status

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef, StackTypeDef

T = TypeVar("T")
DELETE_COMPLETE: Final = "DELETE_COMPLETE"
EMPTY_STATES = (StackState.PLANNED, StackState.NOT_CREATED)
"""States of a stack that has no resources."""
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds; the last one repeats."""


@dataclass(frozen=True, kw_only=True)
class LiveStack:
    """One stack; an operation on it may be in progress.

    `parameters` has the values with which it was deployed; of the parameter store, what was read there.
    """

    id: str
    name: str
    status: str
    reason: str
    is_protected: bool
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> StackState:
        """How a deploy treats the stack."""
        return stack_status(self.status).state

    @property
    def remedy(self) -> str:
        """The remedy for its state; "" without one."""
        _, _, _, region, *_ = self.id.split(":")
        return stack_status(self.status).remedy.format(region=region, stack=self.name)

    def __str__(self) -> str:
        """Its status and the reason, as a sentence."""
        because = f" ({self.reason})" if self.reason else ""
        return f"the stack {self.name} is in {self.status}{because}"


def pauses() -> Iterator[float]:
    """Seconds between checks of an operation, which grow and have no end."""
    return chain(_PAUSES, repeat(_PAUSES[-1]))


def poll(read: Callable[[], T], is_pending: Callable[[T], bool]) -> T:
    """Read until the answer is not pending any more, with pauses between, and return it."""
    pause, seconds, answer = threading.Event(), pauses(), read()
    while is_pending(answer):
        pause.wait(next(seconds))
        answer = read()
    return answer


def find_stack(cloudformation: CloudFormationClient, name: str) -> LiveStack | None:
    """The stack with a name or an id; an id also finds a deleted stack. None if it does not exist."""
    try:
        (description,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise
    return _live(description)


def all_stacks(cloudformation: CloudFormationClient) -> Iterator[LiveStack]:
    """All stacks of the account and region."""
    for page in cloudformation.get_paginator("describe_stacks").paginate():
        yield from map(_live, page["Stacks"])


def stack_resources(
    cloudformation: CloudFormationClient, stack: LiveStack, type: str | None = None
) -> list[StackResourceSummaryTypeDef]:
    """The resources that a stack has; with `type` those of that type."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack.id)
    return [
        stack_resource
        for page in pages
        for stack_resource in page["StackResourceSummaries"]
        if type in (None, stack_resource["ResourceType"])
        and stack_resource["ResourceStatus"] != DELETE_COMPLETE
        and stack_resource.get("PhysicalResourceId")
    ]


def settled_stack(cloudformation: CloudFormationClient, stack: LiveStack) -> LiveStack | None:
    """Wait until the stack's operation has ended; return the stack, or None if it was deleted."""
    current = poll(
        lambda: find_stack(cloudformation, stack.id),
        lambda live: live is not None and live.state is StackState.UNDER_WAY,
    )
    return None if current is None or current.state is StackState.GONE else current


def last_event(cloudformation: CloudFormationClient, stack: LiveStack) -> str:
    """The id of the newest event: it changes when something is done."""
    return cloudformation.describe_stack_events(StackName=stack.id)["StackEvents"][0]["EventId"]


def _live(description: StackTypeDef) -> LiveStack:
    return LiveStack(
        id=description["StackId"],
        name=description["StackName"],
        status=description["StackStatus"],
        reason=description.get("StackStatusReason", ""),
        is_protected=description.get("EnableTerminationProtection", False),
        parameters={
            parameter["ParameterKey"]: parameter.get("ResolvedValue", parameter["ParameterValue"])
            for parameter in description.get("Parameters", [])
        },
    )
