"""One job, from its start to its end; no job outlives the build that follows it."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import sys
import time
from collections.abc import Callable

from botocore.exceptions import BotoCoreError, ClientError

from engine_request.bucket import Bucket, status
from engine_request.deadline import Deadline
from engine_request.host import builder
from engine_request.outcome import Client
from engine_request.problems import REFUSED, BuildError
from engine_request.request import Job, Request

from .ended import require_engine
from .log import JobLog
from .sagemaker import GRACE, Jobs, State

STARTING = 900
"""Seconds in which SageMaker has to find an instance and pull the image, which is not of the build's time."""
PAUSE = 10
"""Seconds between two looks at the job."""
MISSES = 6
"""Looks in a row that may find no answer."""
STOPPING = 180
"""Seconds in which a job that was told to stop is over: SageMaker kills it after 120."""
UNSURE = 500
"""HTTP statuses from which on an answer does not say what was done."""
LATER = frozenset({"ThrottlingException", "ServiceUnavailable", "InternalFailure", "InternalServerError"})


class NotStartedError(BuildError):
    """SageMaker took no job, so that there is none to stop."""


def run_job(
    request: Request,
    bucket: Bucket,
    client: Client,
    *,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Have a job build the engine, unless it is there.

    Raises:
        BuildError: there is no engine, and why.
        ClientError, BotoCoreError: AWS refused something.
    """
    if bucket.head(request.manifest) is not None:
        print(f"{bucket.url(request.plan)} is there already: nothing to do.")
        return
    job = request.job
    if job is None:
        raise BuildError(REFUSED, "the request names no job", remedy="publish again")
    deadline = Deadline(request.seconds + GRACE + STARTING, clock)
    jobs, name = Jobs(client("sagemaker"), job.kind), job_name(request.hexadecimal)
    log = JobLog(client("logs"), jobs.log_group, name)
    try:
        _start(jobs, name, request, job, bucket)
        state = _follow(jobs, name, log, deadline, sleep)
    except NotStartedError:
        raise
    except BaseException:
        _stop(jobs, name, log, sleep)
        raise
    require_engine(state, name, request, bucket)
    print(f"{bucket.url(request.plan)} is built by {name}.")


def job_name(hexadecimal: str) -> str:
    """The same for all tries of one CodeBuild build, so that a lost answer starts no second job."""
    attempt = builder()
    suffix = hashlib.sha256(attempt.encode()).hexdigest()[:8] if attempt else secrets.token_hex(4)
    return f"engine-{hexadecimal[:40]}-{suffix}"


def _start(jobs: Jobs, name: str, request: Request, job: Job, bucket: Bucket) -> None:
    try:
        jobs.create(name, request, job, bucket)
    except ClientError as error:
        code, remedy = error.response["Error"]["Code"], ""
        if code == "ResourceLimitExceeded":
            quota = f"{job.instance_type} for {jobs.kind} job usage"
            remedy = f"ask Service Quotas of SageMaker for more `{quota}`, or wait for other jobs to end"
        if status(error) >= UNSURE:
            raise  # it may have been started all the same
        if code != "ResourceInUse":
            raise NotStartedError(REFUSED, f"{error}", remedy=remedy) from error
        print(f"{name} runs already: following it.")
    else:
        print(f"{name} is started: {jobs.kind} job on {job.instance_type}, log in {jobs.log_group}.")


def _follow(
    jobs: Jobs, name: str, log: JobLog, deadline: Deadline, sleep: Callable[[float], object]
) -> State:
    misses, before = 0, ""
    while True:
        try:
            state = jobs.state(name)
        except (ClientError, BotoCoreError) as error:
            misses += 1
            if misses > MISSES or not _passes(error):
                raise
        else:
            misses = 0
            log.copy()
            if state.is_over:
                return state
            now = " ".join(part for part in (state.status, state.detail) if part)
            if now != before:
                print(f"{name}: {now}")
            before = now
        deadline.left(f"{name} is stopped")
        sleep(PAUSE)


def _stop(jobs: Jobs, name: str, log: JobLog, sleep: Callable[[float], object]) -> None:
    """Stop it and see it end; what stands in the way is told, and the first error counts."""
    try:
        with contextlib.suppress(ClientError):  # it is over, or was never started
            jobs.stop(name)
        for _ in range(STOPPING // PAUSE):
            state = jobs.state(name)
            log.copy()
            if state.is_over:
                print(f"{name}: {state.status}")
                return
            sleep(PAUSE)
        print(f"{name} is told to stop, but still runs", file=sys.stderr)
    except (ClientError, BotoCoreError) as error:
        print(f"{name}: {error}", file=sys.stderr)


def _passes(error: ClientError | BotoCoreError) -> bool:
    return not isinstance(error, ClientError) or error.response["Error"]["Code"] in LATER
