"""Clients of an embedded AWS."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config

from fleet.local.aws.server import EmbeddedAws


def client(aws: EmbeddedAws, service: str) -> Any:
    """A client that shows an error at once instead of trying again."""
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
    make: Any = session.client
    return make(service, endpoint_url=aws.url, config=Config(retries={"max_attempts": 0}))
