"""Access to the embedded AWS: its environment's name, and credentials that it takes for its own account."""

from __future__ import annotations

import boto3

ENVIRONMENT = "local"
"""The environment of the embedded AWS; its file says account and region."""
_KEY = "local"


def local_session(region: str) -> boto3.Session:
    """A session that never reads the user's own AWS settings; clients need the embedded AWS's URL."""
    return boto3.Session(aws_access_key_id=_KEY, aws_secret_access_key=_KEY, region_name=region)


def local_variables(region: str, url: str) -> dict[str, str]:
    """The same for a process that is started."""
    return {
        "AWS_ACCESS_KEY_ID": _KEY,
        "AWS_SECRET_ACCESS_KEY": _KEY,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_ENDPOINT_URL": url,
    }
