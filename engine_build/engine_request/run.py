"""Runs a request of the artifact bucket, and writes failure.json beside it if it fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from .bucket import Bucket
from .host import builder, timestamp
from .outcome import outcome
from .problems import REFUSAL, BuildError, read_request

Client = Callable[[str], Any]


class BuildRequest(Protocol):
    """Any request: where the reason is written if the build fails."""

    @property
    def failure(self) -> str:
        """The key of failure.json."""


R = TypeVar("R", bound=BuildRequest)
Work = Callable[[R, Bucket, Client], None]


def run_request(
    address: str, read: Callable[[bytes], R], work: Work[R], *, remedy: str = "publish again"
) -> int:
    """Do the work of the request at an `s3://` address, which `read` reads; `remedy` replaces a request.

    Returns:
        0, or the exit code of the problem, which is also in failure.json.
    """
    requests: list[tuple[Bucket, R]] = []

    def run() -> None:
        name, _, key = address.removeprefix("s3://").partition("/")
        try:
            bucket = Bucket(aws_client("s3"), name)
            document = bucket.read(key)
            if document is None:
                raise BuildError(REFUSAL, f"{address} does not exist", remedy=remedy)
            request = read_request(read, document, remedy)
            requests.append((bucket, request))
            work(request, bucket, aws_client)
        except (ClientError, BotoCoreError) as error:
            raise BuildError(REFUSAL, f"{error}") from error

    def record(error: BuildError) -> None:
        for bucket, request in requests:
            write_failure(error, bucket, request)

    return outcome(run, record)


def aws_client(service: str) -> Any:
    """A client that tries again, with growing pauses, what AWS refuses for a moment."""
    make: Any = boto3.client
    return make(service, config=Config(retries={"mode": "standard", "total_max_attempts": 10}))


def failure_document(error: BuildError) -> dict[str, Any]:
    """The content of failure.json; `by` names the attempt, as builder() does."""
    return {
        "exit_code": error.problem.exit_code,
        "problem": error.problem.name,
        "message": error.message,
        "remedy": error.remedy,
        "log": list(error.log),
        "by": builder(),
        "at": timestamp(),
    }


def write_failure(error: BuildError, bucket: Bucket, request: BuildRequest) -> None:
    """Write failure.json for the publisher; a refusal of S3 is printed, and changes nothing."""
    try:
        bucket.write(request.failure, json.dumps(failure_document(error), indent=2).encode())
    except (ClientError, BotoCoreError) as refusal:
        print(f"{bucket.url(request.failure)} could not be written: {refusal}", file=sys.stderr)
