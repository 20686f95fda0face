"""One log group."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .request import Request
from .retry import is_error, retry

_CONTENTION = "OperationAbortedException"
"""A container may create the group at the same moment."""


def adopt_group(logs: Any, name: str, request: Request) -> str:
    """Create or adopt the group, and return which as a sentence; every step may be repeated.

    A key that the fleet did not set stays.

    Raises:
        ClientError: CloudWatch Logs refuses, the key for example.
    """
    is_new = _create(logs, name, request)
    if request.key:
        retry(logs.associate_kms_key, _CONTENTION, logGroupName=name, kmsKeyId=request.key)
    elif request.former_key:
        retry(logs.disassociate_kms_key, _CONTENTION, logGroupName=name)
    retry(logs.put_retention_policy, _CONTENTION, logGroupName=name, retentionInDays=request.days)
    arn = f"{request.arns}:{name}"
    if request.former_tags:
        retry(logs.untag_resource, _CONTENTION, resourceArn=arn, tagKeys=list(request.former_tags))
    retry(logs.tag_resource, _CONTENTION, resourceArn=arn, tags=dict(request.tags))
    return f"{'Created' if is_new else 'Adopted'} {name} with a retention of {request.days} days."


def _create(logs: Any, name: str, request: Request) -> bool:
    """Create the group, encrypted from its first line on; False if it exists."""
    key = {"kmsKeyId": request.key} if request.key else {}
    try:
        retry(logs.create_log_group, _CONTENTION, logGroupName=name, tags=dict(request.tags), **key)
    except ClientError as error:
        if not is_error(error, "ResourceAlreadyExistsException"):
            raise
        return False
    return True
