"""The functions' entries: `handler` begins a check, and `is_complete` makes it, as often as it takes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3

from .check import check
from .errors import CheckError, PendingError
from .request import Request
from .stack import physical_id, rolls_back
from .transient_errors import CONFIG

_MAX_CHARACTERS = 1500
"""Of a message; CloudFormation takes 4,096 bytes of an answer with everything around it."""

Client = Callable[..., Any]
_boto3_client: Any = boto3.client


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Begin a check, and return its deadline; without a `Deadline` there is nothing to check.

    The environment has its longest duration as SECONDS. Nothing is checked when the resource is deleted, or
    when its stack rolls back: what was served before is served again, whatever it answers.
    """
    answer: dict[str, Any] = {"PhysicalResourceId": physical_id(event)}
    if event["RequestType"] == "Delete":
        return {**answer, "Data": {"Summary": "Nothing to do: the check is deleted."}}
    if event["RequestType"] == "Update" and rolls_back(client("cloudformation"), event["StackId"]):
        return {**answer, "Data": {"Summary": "Nothing is checked, because the stack rolls back."}}
    return {**answer, "Deadline": time.time() + float(environ["SECONDS"])}


def is_complete(
    event: Mapping[str, Any],
    context: Any,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Make the check, as the CDK's `custom_resources.Provider` asks; `Summary` of the answer is a sentence.

    Raises:
        CheckError: the endpoint is not as it has to be, or cannot be called until the deadline.
    """
    if "Deadline" not in event:
        return {"IsComplete": True}
    try:
        summary = check(
            Request.of(event),
            client("sagemaker", config=CONFIG),
            client("sagemaker-runtime", config=CONFIG),
            lambda: float(context.get_remaining_time_in_millis() / 1000),
        )
    except PendingError as error:
        print(f"Waiting: {error}")
        if time.time() < event["Deadline"]:
            return {"IsComplete": False}
        raise _truncate(_time_out(event, error, environ)) from error
    except CheckError as error:
        raise _truncate(error) from error
    except Exception as error:
        raise _truncate(_unexpected_error(event, error)) from error
    print(summary)
    return {"IsComplete": True, "Data": {"Summary": summary[:_MAX_CHARACTERS]}}


def _truncate(error: CheckError) -> CheckError:
    """The error within the limit of CloudFormation, with its whole remedy."""
    limit = _MAX_CHARACTERS - len(error.remedy) - 2
    problem = error.problem if len(error.problem) <= limit else f"{error.problem[:limit]}…"
    return CheckError(problem, error.remedy)


def _time_out(event: Mapping[str, Any], error: PendingError, environ: Mapping[str, str]) -> CheckError:
    endpoint, minutes = event["ResourceProperties"]["EndpointName"], float(environ["SECONDS"]) / 60
    return CheckError(
        f"Endpoint {endpoint} could not be checked within {minutes:g} minutes. Last problem: {error}.",
        f"See the log group /aws/sagemaker/Endpoints/{endpoint}, remove the cause, and deploy again.",
    )


def _unexpected_error(event: Mapping[str, Any], error: Exception) -> CheckError:
    endpoint = event["ResourceProperties"].get("EndpointName")
    return CheckError(
        f"Endpoint {endpoint} could not be checked: {type(error).__name__}: {error}.",
        "Remove the cause, and deploy again.",
    )
