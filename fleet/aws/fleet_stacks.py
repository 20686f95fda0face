"""The stacks of an environment's endpoints, as they are there now: with or without a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.aws.stack import LiveStack, all_stacks
from fleet.resolve.endpoint import Place, stack_of

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient


def endpoint_stacks(cloudformation: CloudFormationClient, place: Place) -> dict[str, LiveStack]:
    """The environment's endpoint stacks by the endpoint's name, which is the end of the stack's name.

    The name alone tells: CloudFormation knows no tags of a stack that was planned and never begun.
    """
    prefix = stack_of(place, "")
    stacks = [stack for stack in all_stacks(cloudformation) if stack.name.startswith(prefix)]
    return {stack.name.removeprefix(prefix): stack for stack in stacks}
