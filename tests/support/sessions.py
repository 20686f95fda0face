"""A session that tests share."""

from __future__ import annotations

from functools import cache

import boto3

from tests.support.embedded_keys import KEYS
from triton_fleet.awsapi.emulator import local_session


@cache
def shared_session(region: str) -> boto3.Session:
    """A session that has read botocore's descriptions: its clients take 2 ms each, a new session's first 30 ms."""
    return local_session(region, KEYS)
