"""The functions' entries: `handler` begins, and `is_complete` does the work, as often as it takes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from .assembly import assemble
from .bucket import Bucket, status
from .builds import RETRY, Builds
from .errors import MAX_CHARACTERS, AssemblyError, PendingError
from .request import Request
from .stack import physical_id

GRANT_SECONDS = 180.0
"""IAM sees new policies a while after they are made: so long, a refusal is not final."""
MIN_SERVER_STATUS, THROTTLING_STATUS = 500, 429
THROTTLING_CODES = ("ThrottlingException", "Throttling", "SlowDown", "RequestLimitExceeded")

Client = Callable[..., Any]
_boto3_client: Any = boto3.client


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Begin, and return the times of begin and end; the environment has the seconds between as SECONDS.

    A deletion keeps everything: model data and engines are named by their content, and other stacks and
    former Models may use them.
    """
    answer = {"PhysicalResourceId": physical_id(event)}
    if event["RequestType"] == "Delete":
        url = f"s3://{event['ResourceProperties']['Bucket']}/{event['ResourceProperties']['Prefix']}"
        return {**answer, "Data": {"Summary": f"Kept {url} and its engines."}}
    start = time.time()
    return {**answer, "Start": start, "Deadline": start + float(environ["SECONDS"])}


def is_complete(
    event: Mapping[str, Any],
    context: Any,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Do the work, as the CDK's `custom_resources.Provider` asks; `Url` of the answer is the model data's.

    The environment has the ARN of the role of jobs as JOB_ROLE, and the project that builds as PROJECT.

    Raises:
        AssemblyError: an engine cannot be built, or the hour of CloudFormation is over.
    """
    if "Deadline" not in event:
        return {"IsComplete": True}
    request = Request.of(event, environ["JOB_ROLE"])
    s3 = client("s3")
    builds = Builds(
        client("codebuild"), Bucket(s3, request.bucket), environ["PROJECT"], request.script, event["Start"]
    )
    try:
        summary = assemble(request, s3, builds, lambda: float(context.get_remaining_time_in_millis() / 1000))
    except PendingError as error:
        return _wait(str(error), event, environ)
    except (BotoCoreError, ClientError) as error:
        problem = f"a call to AWS failed: {type(error).__name__}: {error}"
        if _may_pass(error, time.time() - event["Start"]):
            return _wait(problem, event, environ)
        raise AssemblyError(f"{request.url} cannot be assembled: {problem}.", RETRY) from error
    print(summary)
    return {"IsComplete": True, "Data": {"Url": request.url, "Summary": summary[:MAX_CHARACTERS]}}


def _wait(progress: str, event: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    print(f"Waiting: {progress}")
    if time.time() < event["Deadline"]:
        return {"IsComplete": False}
    minutes = float(environ["SECONDS"]) / 60
    problem = f"CloudFormation waits an hour at most, and after {minutes:g} minutes {progress}."
    remedy = (
        "A build that has begun continues, and its engine is kept: deploy again when it has ended, which"
        " builds nothing twice."
    )
    raise AssemblyError(problem, remedy)


def _may_pass(error: BotoCoreError | ClientError, age: float) -> bool:
    """Whether a later look may succeed."""
    if not isinstance(error, ClientError):
        return True
    is_transient = status(error) == THROTTLING_STATUS or status(error) >= MIN_SERVER_STATUS
    return is_transient or error.response["Error"]["Code"] in THROTTLING_CODES or age < GRANT_SECONDS
