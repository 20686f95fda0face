"""The current state of stacks in CloudFormation."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from triton_fleet.catalog.cloudformation import StackState, stack_status

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef, StackTypeDef

DELETED: Final = "DELETE_COMPLETE"
NOTHING_OF_IT = (StackState.PLANNED, StackState.NOT_CREATED)
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
    protected: bool
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> StackState:
        """How a deploy treats the stack."""
        return stack_status(self.status).state

    @property
    def remedy(self) -> str:
        """What a user can do about its state; "" if nothing."""
        _, _, _, region, *_ = self.id.split(":")
        return stack_status(self.status).remedy.format(region=region, stack=self.name)

    def __str__(self) -> str:
        """Its status and the reason, as a sentence."""
        because = f" ({self.reason})" if self.reason else ""
        return f"the stack {self.name} is in {self.status}{because}"


def pauses() -> Iterator[float]:
    """Seconds between checks of an operation, which grow and have no end."""
    return chain(_PAUSES, repeat(_PAUSES[-1]))


def find_stack(cloudformation: CloudFormationClient, name: str) -> LiveStack | None:
    """The stack with a name or an id; an id also finds a deleted stack. None if it does not exist."""
    try:
        (found,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise
    return _live(found)


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
        each
        for page in pages
        for each in page["StackResourceSummaries"]
        if type in (None, each["ResourceType"])
        and each["ResourceStatus"] != DELETED
        and each.get("PhysicalResourceId")
    ]


def settled_stack(cloudformation: CloudFormationClient, stack: LiveStack) -> LiveStack | None:
    """Wait until the stack's operation has ended; return the stack, or None if it was deleted."""
    pause, seconds, now = threading.Event(), pauses(), find_stack(cloudformation, stack.id)
    while now is not None and now.state is StackState.UNDER_WAY:
        pause.wait(next(seconds))
        now = find_stack(cloudformation, stack.id)
    return None if now is None or now.state is StackState.GONE else now


def last_event(cloudformation: CloudFormationClient, stack: LiveStack) -> str:
    """The id of the newest event: it changes when something is done."""
    return cloudformation.describe_stack_events(StackName=stack.id)["StackEvents"][0]["EventId"]


def _live(found: StackTypeDef) -> LiveStack:
    return LiveStack(
        id=found["StackId"],
        name=found["StackName"],
        status=found["StackStatus"],
        reason=found.get("StackStatusReason", ""),
        protected=found.get("EnableTerminationProtection", False),
        parameters={
            each["ParameterKey"]: each.get("ResolvedValue", each["ParameterValue"])
            for each in found.get("Parameters", [])
        },
    )
