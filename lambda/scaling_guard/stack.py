"""The stack that asks: its state, and a resource's name in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError


def rolls_back(cloudformation: Any, stack_id: str) -> bool:
    """Whether the stack rolls back, or cleans up after that; if it cannot be asked, it is taken not to."""
    return "ROLLBACK" in stack_status(cloudformation, stack_id)


def stack_status(cloudformation: Any, stack_id: str) -> str:
    """The stack's status; empty if it cannot be asked."""
    try:
        answer = cloudformation.describe_stacks(StackName=stack_id)
    except (BotoCoreError, ClientError) as error:
        print(f"The stack cannot be asked whether it rolls back: {error}")
        return ""
    return str(answer["Stacks"][0]["StackStatus"])


def physical_id(event: Mapping[str, Any]) -> str:
    """One name for good: an update of the resource replaces nothing."""
    if event["RequestType"] != "Create":
        return str(event["PhysicalResourceId"])
    return f"{event['StackId'].rpartition(':')[2]}/{event['LogicalResourceId']}"
