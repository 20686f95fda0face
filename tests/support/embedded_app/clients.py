"""Clients of an embedded AWS."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_keys import SESSION

_client_lock = threading.Lock()
"""A session is not for several threads at a time."""


def client(aws: EmbeddedAws, service: str, region: str = "us-east-1") -> Any:
    """A client that shows an error at once instead of trying again."""
    make: Any = _session().client
    with _client_lock:
        return make(service, region, endpoint_url=aws.url, config=Config(retries={"max_attempts": 0}))


@cache
def _session() -> boto3.Session:
    """One for all, as each reads botocore's descriptions of the services anew."""
    return boto3.Session(**SESSION, region_name="us-east-1")
