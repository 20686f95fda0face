"""The stack that asks: its state, and a resource's name in it; other packages link to this file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError


def is_rollback(status: str) -> bool:
    """Whether a stack of this status rolls back, or cleans up after that."""
    return "ROLLBACK" in status


def rolls_back(cloudformation: Any, stack_id: str) -> bool:
    """Whether the stack rolls back; if it cannot be asked, it is taken not to."""
    try:
        return is_rollback(stack_status(cloudformation, stack_id))
    except (BotoCoreError, ClientError) as error:
        print(f"The stack cannot be asked whether it rolls back: {error}")
        return False


def stack_status(cloudformation: Any, stack_id: str) -> str:
    """The stack's status."""
    return str(cloudformation.describe_stacks(StackName=stack_id)["Stacks"][0]["StackStatus"])


def physical_id(event: Mapping[str, Any]) -> str:
    """One name for good: an update of the resource replaces nothing."""
    if event["RequestType"] != "Create":
        return str(event["PhysicalResourceId"])
    return f"{event['StackId'].rpartition(':')[2]}/{event['LogicalResourceId']}"
