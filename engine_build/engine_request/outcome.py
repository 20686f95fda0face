"""One run of the script, from the request's address to the exit code."""

from __future__ import annotations

import errno
import io
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from . import failure
from .bucket import Bucket
from .problems import CANCELLED, FAILED, REFUSED, BuildError, Cancelled
from .request import Named

Client = Callable[[str], Any]
R = TypeVar("R", bound=Named)
Work = Callable[[R, Bucket, Client], None]
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def outcome(address: str, read: Callable[[bytes], R], work: Work[R]) -> int:
    """Do the work of the request at an `s3://` address, which `read` reads, and say how it ended.

    Returns:
        0, or the exit code of the problem, which is also told in failure.json.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # a log gets each line as it is said
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    for number in SIGNALS:
        signal.signal(number, _cancel)
    bucket: Bucket | None = None
    request: R | None = None
    try:
        name, _, key = address.removeprefix("s3://").partition("/")
        bucket = Bucket(aws_client("s3"), name)
        document = bucket.read(key)
        if document is None:
            raise BuildError(REFUSED, f"{address} does not exist", remedy="publish again")
        request = read(document)
        work(request, bucket, aws_client)
    except (Exception, Cancelled) as error:
        _ignore_signals()
        told = _as_build_error(error)
        failure.tell(told)
        if bucket is not None and request is not None:
            failure.keep(told, bucket, request)
        return told.problem.exit_code
    return 0


def aws_client(service: str) -> Any:
    """A client that tries again, with growing pauses, what AWS refuses for a moment."""
    make: Any = boto3.client
    return make(service, config=Config(retries={"mode": "standard", "total_max_attempts": 10}))


def _cancel(number: int, frame: object) -> None:
    _ignore_signals()
    raise Cancelled


def _ignore_signals() -> None:
    """One more is not to break off the clearing up, nor what is said of a failure."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)


def _as_build_error(error: BaseException) -> BuildError:
    if isinstance(error, BuildError):
        return error
    if isinstance(error, Cancelled):
        return BuildError(CANCELLED, "a signal stopped the build")
    if isinstance(error, (ClientError, BotoCoreError)):
        return BuildError(REFUSED, f"{error}")
    traceback.print_exception(error)
    full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    return BuildError(
        FAILED,
        f"{type(error).__name__}: {error}",
        remedy="build on an instance with a larger disk" if full else "",
        log=traceback.format_exception(error)[-1:],
    )
