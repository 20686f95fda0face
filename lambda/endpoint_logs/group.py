"""One log group."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .request import Request
from .retried import is_error, retried

_CONTENDED = "OperationAbortedException"
"""A container may be making the group at the same moment."""


def own(logs: Any, name: str, request: Request) -> str:
    """Make the group or take it over, and say which; every step may be repeated.

    A key that we have not given is left: it was there before us.

    Raises:
        ClientError: CloudWatch Logs refuses, the key for example.
    """
    made = _created(logs, name, request)
    if request.key:
        retried(logs.associate_kms_key, _CONTENDED, logGroupName=name, kmsKeyId=request.key)
    elif request.former_key:
        retried(logs.disassociate_kms_key, _CONTENDED, logGroupName=name)
    retried(logs.put_retention_policy, _CONTENDED, logGroupName=name, retentionInDays=request.days)
    arn = f"{request.arns}:{name}"
    if request.former_tags:
        retried(logs.untag_resource, _CONTENDED, resourceArn=arn, tagKeys=list(request.former_tags))
    retried(logs.tag_resource, _CONTENDED, resourceArn=arn, tags=dict(request.tags))
    return f"{'Created' if made else 'Adopted'} {name} with a retention of {request.days} days."


def _created(logs: Any, name: str, request: Request) -> bool:
    """Whether the group was made, and not there already; encrypted from its first line on."""
    key = {"kmsKeyId": request.key} if request.key else {}
    try:
        retried(logs.create_log_group, _CONTENDED, logGroupName=name, tags=dict(request.tags), **key)
    except ClientError as error:
        if not is_error(error, "ResourceAlreadyExistsException"):
            raise
        return False
    return True
