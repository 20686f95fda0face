"""The state of the stack that asks."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError


def rolls_back(cloudformation: Any, stack_id: str) -> bool:
    """Whether the stack rolls back, or cleans up after that; if it cannot be asked, it is taken not to."""
    try:
        answer = cloudformation.describe_stacks(StackName=stack_id)
    except (BotoCoreError, ClientError) as error:
        print(f"The stack cannot be asked whether it rolls back: {error}")
        return False
    return "ROLLBACK" in answer["Stacks"][0]["StackStatus"]
