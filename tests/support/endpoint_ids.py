"""Endpoints of the embedded AWS, and requests as it hands them to the gateway."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleet_emulator.hosting import ACCOUNT, REGION, EndpointId


def endpoint_id(name: str, *, account: str = "123456789012", region: str = "us-east-1") -> EndpointId:
    """An endpoint, in the account and region of most tests."""
    return EndpointId(account=account, region=region, name=name)


class SignedFor:
    """A gateway whose requests are all signed for one account and region."""

    def __init__(self, gateway: Any, *, account: str = "123456789012", region: str = "us-east-1") -> None:
        self.gateway, self.signatures = gateway, {ACCOUNT: account, REGION: region}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer: Iterable[bytes] = self.gateway(environ | self.signatures, start_response)
        return answer
