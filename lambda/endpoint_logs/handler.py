"""The function's entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import ClientError

from .group import own
from .request import Request
from .retried import is_error
from .stack import physical_id, rolls_back

_MOST = 1500
"""Characters of a sentence; CloudFormation takes 4,096 bytes of an answer with everything around it."""

Client = Callable[[str], Any]
_boto3_client: Any = boto3.client


class LogsError(Exception):
    """Which log group cannot be owned, why, and what to do about it."""


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Answer an event of the CDK's `custom_resources.Provider`; `Did` of the answer is a sentence.

    Raises:
        LogsError: a log group is not as it has to be, and the stack does not roll back.
    """
    did = _kept(event) if event["RequestType"] == "Delete" else _owned(event, client)
    print(did)
    return {"PhysicalResourceId": physical_id(event), "Data": {"Did": did[:_MOST]}}


def _kept(event: Mapping[str, Any]) -> str:
    properties = event["ResourceProperties"]
    return (
        f"Kept {' and '.join(properties['LogGroups'])}: lines expire after {properties['RetentionInDays']}"
        " days, and an empty log group costs nothing."
    )


def _owned(event: Mapping[str, Any], client: Client) -> str:
    request = Request.of(event)
    done = []
    for name in request.names:
        try:
            done.append(own(client("logs"), name, request))
        except Exception as error:
            told = (
                f"The log group {name} could not be created or configured: {type(error).__name__}: {error}."
            )
            if not rolls_back(client("cloudformation"), event["StackId"]):
                remedy = "Remove the cause and deploy again"
                if request.key:
                    remedy += (
                        f"; the policy of {request.key} has to let CloudWatch Logs use it (docs/security.md)"
                    )
                if isinstance(error, ClientError) and is_error(error, "AccessDeniedException"):
                    remedy += (
                        "; where its tag triton-fleet:environment names another environment, remove the tag"
                        " or delete the group"
                    )
                raise LogsError(f"{told[:_MOST]} {remedy}.") from error
            done.append(f"Reported only, because the stack rolls back: {told}")
    return " ".join(done)
