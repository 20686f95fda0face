"""Runs one job from its start to its end; no job outlives the build that follows it."""

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
from engine_request.host import builder
from engine_request.problems import REFUSAL, BuildError
from engine_request.process import Deadline
from engine_request.request import EngineRequest
from engine_request.run import Client

from .log import JobLog
from .sagemaker import GRACE_SECONDS, Jobs, State, require_success
from .store import store_engine
from .workspace import Workspace

START_SECONDS = 900
"""For SageMaker to find an instance and pull the image, which does not count as time of the build."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 10.0
"""Between two descriptions of the job: it begins with the first, and doubles up to the other."""
MAX_MISSES = 6
"""Descriptions in a row that may fail."""
STOP_SECONDS = 180
"""For a job to end after StopJob: SageMaker kills it after 120."""
MIN_SERVER_STATUS = 500
"""HTTP statuses from which on an answer does not show whether the call took effect."""
TRANSIENT_CODES = frozenset(
    {"ThrottlingException", "ServiceUnavailable", "InternalFailure", "InternalServerError"}
)


class NotStartedError(BuildError):
    """SageMaker refused the job, so there is none to stop."""


def run_job(
    request: EngineRequest,
    bucket: Bucket,
    client: Client,
    *,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Have a job build the engine, unless the engine exists.

    Raises:
        BuildError: there is no engine, and why.
        ClientError, BotoCoreError: AWS refused something.
    """
    if bucket.head(request.manifest) is not None:
        print(f"{bucket.url(request.plan)} exists already: nothing to do.")
        return
    deadline = Deadline(request.seconds + GRACE_SECONDS + START_SECONDS, clock)
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
    request: EngineRequest,
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


def _start(jobs: Jobs, name: str, request: EngineRequest, workspace: Workspace) -> None:
    job = request.job
    try:
        jobs.create(name, request, workspace)
    except ClientError as error:
        code, remedy = error.response["Error"]["Code"], ""
        if code == "ResourceLimitExceeded":
            quota = f"{job.instance_type} for {jobs.kind} job usage"
            remedy = f"ask Service Quotas of SageMaker for more `{quota}`, or wait for other jobs to end"
        if status(error) >= MIN_SERVER_STATUS:
            raise  # it may have been started all the same
        if code != "ResourceInUse":
            raise NotStartedError(REFUSAL, f"{error}", remedy=remedy) from error
        print(f"{name} runs already: following it.")
    else:
        print(f"{name} is started: {jobs.kind} job on {job.instance_type}, log in {jobs.log_group}.")


def _follow(
    jobs: Jobs, name: str, log: JobLog, deadline: Deadline, sleep: Callable[[float], object]
) -> State:
    misses, former, pause = 0, "", FIRST_PAUSE_SECONDS
    while True:
        try:
            state = jobs.state(name)
        except (ClientError, BotoCoreError) as error:
            misses += 1
            if misses > MAX_MISSES or not _is_transient(error):
                raise
        else:
            misses = 0
            log.copy()
            if state.is_over:
                return state
            progress = " ".join(part for part in (state.status, state.detail) if part)
            if progress != former:
                print(f"{name}: {progress}")
            former = progress
        deadline.require_time(f"{name} is stopped")
        sleep(pause)
        pause = min(MAX_PAUSE_SECONDS, 2 * pause)


def _stop(jobs: Jobs, name: str, log: JobLog, sleep: Callable[[float], object]) -> None:
    """Stop the job and wait for its end; errors are printed, since the first error of the build counts."""
    try:
        with contextlib.suppress(ClientError):  # it is over, or was never started
            jobs.stop(name)
        for _ in range(int(STOP_SECONDS / MAX_PAUSE_SECONDS)):
            state = jobs.state(name)
            log.copy()
            if state.is_over:
                print(f"{name}: {state.status}")
                return
            sleep(MAX_PAUSE_SECONDS)
        print(f"{name} does not stop: it still runs", file=sys.stderr)
    except (ClientError, BotoCoreError) as error:
        print(f"{name}: {error}", file=sys.stderr)


def _is_transient(error: ClientError | BotoCoreError) -> bool:
    return not isinstance(error, ClientError) or error.response["Error"]["Code"] in TRANSIENT_CODES
