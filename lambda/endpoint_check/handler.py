"""The functions' entries: `handler` begins a check, and `is_complete` makes it, as often as it takes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3

from .check import check
from .errors import CheckError, NotYet
from .passing import CONFIG
from .request import Request
from .stack import physical_id, rolls_back

_MOST = 1500
"""Characters of a message; CloudFormation takes 4,096 bytes of an answer with everything around it."""

Client = Callable[..., Any]
_boto3_client: Any = boto3.client


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Begin a check, and say until when it may take; without a `Deadline` there is nothing to check.

    The environment says how long it may take as SECONDS. Nothing is checked when the resource is deleted, or
    when its stack rolls back: what was served before is served again, whatever it answers.
    """
    answer: dict[str, Any] = {"PhysicalResourceId": physical_id(event)}
    if event["RequestType"] == "Delete":
        return {**answer, "Data": {"Did": "Nothing to do: the check is deleted."}}
    if event["RequestType"] == "Update" and rolls_back(client("cloudformation"), event["StackId"]):
        return {**answer, "Data": {"Did": "Nothing is checked, because the stack rolls back."}}
    return {**answer, "Deadline": time.time() + float(environ["SECONDS"])}


def is_complete(
    event: Mapping[str, Any],
    context: Any,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Make the check, as the CDK's `custom_resources.Provider` asks; `Did` of the answer is a sentence.

    Raises:
        CheckError: the endpoint is not as it has to be, or cannot be called until the deadline.
    """
    if "Deadline" not in event:
        return {"IsComplete": True}
    try:
        did = check(
            Request.of(event),
            client("sagemaker", config=CONFIG),
            client("sagemaker-runtime", config=CONFIG),
            lambda: float(context.get_remaining_time_in_millis() / 1000),
        )
    except NotYet as error:
        print(f"Not yet: {error}")
        if time.time() < event["Deadline"]:
            return {"IsComplete": False}
        raise _told(_too_late(event, error, environ)) from error
    except CheckError as error:
        raise _told(error) from error
    except Exception as error:
        raise _told(_unforeseen(event, error)) from error
    print(did)
    return {"IsComplete": True, "Data": {"Did": did[:_MOST]}}


def _told(error: CheckError) -> CheckError:
    """The same within what CloudFormation takes, the remedy whole."""
    most = _MOST - len(error.remedy) - 2
    return CheckError(error.what if len(error.what) <= most else f"{error.what[:most]}…", error.remedy)


def _too_late(event: Mapping[str, Any], error: NotYet, environ: Mapping[str, str]) -> CheckError:
    endpoint, minutes = event["ResourceProperties"]["EndpointName"], float(environ["SECONDS"]) / 60
    return CheckError(
        f"Endpoint {endpoint} could not be checked within {minutes:g} minutes. Last problem: {error}.",
        f"See the log group /aws/sagemaker/Endpoints/{endpoint}, remove the cause, and deploy again.",
    )


def _unforeseen(event: Mapping[str, Any], error: Exception) -> CheckError:
    endpoint = event["ResourceProperties"].get("EndpointName")
    return CheckError(
        f"Endpoint {endpoint} could not be checked: {type(error).__name__}: {error}.",
        "Remove the cause, and deploy again.",
    )
