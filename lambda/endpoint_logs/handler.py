"""The function's entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import ClientError

from .group import adopt_group
from .request import Request
from .retry import is_error
from .stack import physical_id, rolls_back

_MAX_CHARACTERS = 1500
"""Of a sentence; CloudFormation takes 4,096 bytes of an answer with everything around it."""

Client = Callable[[str], Any]
_boto3_client: Any = boto3.client


class LogsError(Exception):
    """A log group that cannot be adopted: the problem and its remedy."""


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Answer an event of the CDK's `custom_resources.Provider`; `Summary` of the answer is a sentence.

    Raises:
        LogsError: a log group is not as it has to be, and the stack does not roll back.
    """
    summary = _retention_summary(event) if event["RequestType"] == "Delete" else _adopt_groups(event, client)
    print(summary)
    return {"PhysicalResourceId": physical_id(event), "Data": {"Summary": summary[:_MAX_CHARACTERS]}}


def _retention_summary(event: Mapping[str, Any]) -> str:
    properties = event["ResourceProperties"]
    return (
        f"Kept {' and '.join(properties['LogGroups'])}: lines expire after {properties['RetentionInDays']}"
        " days, and an empty log group costs nothing."
    )


def _adopt_groups(event: Mapping[str, Any], client: Client) -> str:
    request = Request.of(event)
    summaries = []
    for name in request.names:
        try:
            summaries.append(adopt_group(client("logs"), name, request))
        except Exception as error:
            problem = (
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
                raise LogsError(f"{problem[:_MAX_CHARACTERS]} {remedy}.") from error
            summaries.append(f"Reported only, because the stack rolls back: {problem}")
    return " ".join(summaries)
