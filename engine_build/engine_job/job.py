"""One job, from its start to its end; no job outlives the build that follows it."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from engine_request.bucket import Bucket, status
from engine_request.deadline import Deadline
from engine_request.host import builder
from engine_request.problems import REFUSED, BuildError
from engine_request.request import Request
from engine_request.run import Client

from .job_outcome import require_success
from .log import JobLog
from .sagemaker import GRACE, Jobs, State
from .store import store_engine
from .workspace import Workspace

STARTING = 900
"""Seconds in which SageMaker has to find an instance and pull the image, which is not of the build's time."""
FIRST_PAUSE, PAUSE = 1.0, 10.0
"""Seconds between two looks at the job, first and later."""
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
        print(f"{bucket.url(request.plan)} exists already: nothing to do.")
        return
    deadline = Deadline(request.seconds + GRACE + STARTING, clock)
    jobs, name = Jobs(client("sagemaker"), request.job.kind), job_name(request.hexadecimal)
    workspace = Workspace(bucket, request.job.prefix, name)
    log = JobLog(client("logs"), jobs.log_group, name)
    try:
        workspace.fill(request)
        require_success(_run(jobs, name, request, workspace, log, deadline, sleep), name)
        with tempfile.TemporaryDirectory(prefix="engine-") as folder:
            workspace.download(Path(folder))
            store_engine(request, bucket, Path(folder), by=name)
        print(f"{bucket.url(request.plan)} is built by {name}.")
    finally:
        workspace.clear()


def job_name(hexadecimal: str) -> str:
    """The same for all tries of one CodeBuild build, so that a lost answer starts no second job."""
    attempt = builder()
    suffix = hashlib.sha256(attempt.encode()).hexdigest()[:8] if attempt else secrets.token_hex(4)
    return f"engine-{hexadecimal[:40]}-{suffix}"


def _run(
    jobs: Jobs,
    name: str,
    request: Request,
    workspace: Workspace,
    log: JobLog,
    deadline: Deadline,
    sleep: Callable[[float], object],
) -> State:
    try:
        _start(jobs, name, request, workspace)
        return _follow(jobs, name, log, deadline, sleep)
    except NotStartedError:
        raise
    except BaseException:
        _stop(jobs, name, log, sleep)
        raise


def _start(jobs: Jobs, name: str, request: Request, workspace: Workspace) -> None:
    job = request.job
    try:
        jobs.create(name, request, workspace)
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
    misses, before, pause = 0, "", FIRST_PAUSE
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
        sleep(pause)
        pause = min(PAUSE, 2 * pause)


def _stop(jobs: Jobs, name: str, log: JobLog, sleep: Callable[[float], object]) -> None:
    """Stop it and see it end; what stands in the way is told, and the first error counts."""
    try:
        with contextlib.suppress(ClientError):  # it is over, or was never started
            jobs.stop(name)
        for _ in range(int(STOPPING / PAUSE)):
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
