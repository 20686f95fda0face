"""The run of a request that lies in the artifact bucket, with failure.json beside it if it fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from .bucket import Bucket
from .host import builder, now
from .outcome import outcome
from .problems import REFUSED, BuildError
from .request import Named

Client = Callable[[str], Any]
R = TypeVar("R", bound=Named)
Work = Callable[[R, Bucket, Client], None]


def run_request(address: str, read: Callable[[bytes], R], work: Work[R]) -> int:
    """Do the work of the request at an `s3://` address, which `read` reads.

    Returns:
        0, or the exit code of the problem, which is also told in failure.json.
    """
    requests: list[tuple[Bucket, R]] = []

    def run() -> None:
        name, _, key = address.removeprefix("s3://").partition("/")
        try:
            bucket = Bucket(aws_client("s3"), name)
            document = bucket.read(key)
            if document is None:
                raise BuildError(REFUSED, f"{address} does not exist", remedy="publish again")
            request = read(document)
            requests.append((bucket, request))
            work(request, bucket, aws_client)
        except (ClientError, BotoCoreError) as error:
            raise BuildError(REFUSED, f"{error}") from error

    def record(error: BuildError) -> None:
        for bucket, request in requests:
            write_failure(error, bucket, request)

    return outcome(run, record)


def aws_client(service: str) -> Any:
    """A client that tries again, with growing pauses, what AWS refuses for a moment."""
    make: Any = boto3.client
    return make(service, config=Config(retries={"mode": "standard", "total_max_attempts": 10}))


def failure_document(error: BuildError) -> dict[str, Any]:
    """The content of failure.json; `by` tells one attempt from another, as builder() names it."""
    return {
        "exit_code": error.problem.exit_code,
        "problem": error.problem.name,
        "message": error.message,
        "remedy": error.remedy,
        "log": list(error.log),
        "by": builder(),
        "at": now(),
    }


def write_failure(error: BuildError, bucket: Bucket, request: Named) -> None:
    """Leave failure.json for the publisher; that S3 refuses it is said, and changes nothing."""
    try:
        bucket.write(request.failure, json.dumps(failure_document(error), indent=2).encode())
    except (ClientError, BotoCoreError) as refusal:
        print(f"{bucket.url(request.failure)} could not be written: {refusal}", file=sys.stderr)
