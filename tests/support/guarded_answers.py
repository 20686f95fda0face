"""Answers of AWS to the scaling guard that a test changes."""

from __future__ import annotations

from typing import Any

from tests.support.guarded_endpoint import Clients, GuardedEndpoint


def clients_with_answer(endpoint: GuardedEndpoint, operation: str, **answer: Any) -> Clients:
    """Clients that see these members in the answers of one operation."""

    def after(name: str, parsed: dict[str, Any]) -> None:
        if name == operation:
            (parsed["Stacks"][0] if operation == "DescribeStacks" else parsed).update(answer)

    return endpoint.account.clients(after=after)
