"""One log group."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from .request import Request

SECONDS = (1, 2, 4, 8)
"""The pauses before each further try: a container may be making the group at the same moment."""


def own(logs: Any, name: str, request: Request) -> str:
    """Make the group or take it over, and say which; every step may be repeated.

    A key that we have not given is left: it was there before us.

    Raises:
        ClientError: CloudWatch Logs refuses, the key for example.
    """
    made = _created(logs, name, request)
    if request.key:
        _retried(logs.associate_kms_key, logGroupName=name, kmsKeyId=request.key)
    elif request.former_key:
        _retried(logs.disassociate_kms_key, logGroupName=name)
    _retried(logs.put_retention_policy, logGroupName=name, retentionInDays=request.days)
    arn = f"{request.arns}:{name}"
    if request.former_tags:
        _retried(logs.untag_resource, resourceArn=arn, tagKeys=list(request.former_tags))
    _retried(logs.tag_resource, resourceArn=arn, tags=dict(request.tags))
    return f"{'Made' if made else 'Took over'} {name}, which keeps {request.days} days."


def _created(logs: Any, name: str, request: Request) -> bool:
    """Whether the group was made, and not there already; encrypted from its first line on."""
    key = {"kmsKeyId": request.key} if request.key else {}
    try:
        _retried(logs.create_log_group, logGroupName=name, tags=dict(request.tags), **key)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceAlreadyExistsException":
            raise
        return False
    return True


def _retried(call: Callable[..., Any], **arguments: Any) -> None:
    for seconds in SECONDS:
        try:
            call(**arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] != "OperationAbortedException":
                raise
            time.sleep(seconds)
        else:
            return
    call(**arguments)
