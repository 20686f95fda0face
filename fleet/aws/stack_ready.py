"""Stacks that an interrupted or failed deploy left behind, made ready for the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.aws.stack import NOT_CREATED, LiveStack, find_stack, settled
from fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

STUCK = {
    "UPDATE_ROLLBACK_FAILED": (
        "see why in its events, then run `aws cloudformation continue-update-rollback --stack-name {stack}` "
        "and the deploy again"
    ),
    "DELETE_FAILED": "see why in its events, delete it, then run the deploy again",
}
"""By status: what only somebody who has seen why can do."""


def ready_stack(cloudformation: CloudFormationClient, name: str) -> LiveStack | None:
    """A stack that can be deployed to, when what is under way is over; None where it has to be created.

    A stack whose creation failed is deleted by the CDK CLI, which cannot do so if it is protected.

    Raises:
        CannotRunError: it is stuck.
    """
    stack = find_stack(cloudformation, name)
    if stack is not None:
        stack = settled(cloudformation, stack)
    if stack is None:
        return None
    if stack.status in STUCK:
        remedy = STUCK[stack.status].format(stack=name)
        because = f" ({stack.reason})" if stack.reason else ""
        raise CannotRunError(f"the stack {name} is in {stack.status}{because}", remedy)
    if stack.status in NOT_CREATED and stack.protected:
        cloudformation.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    return stack
