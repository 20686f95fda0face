"""A job's run, in a thread of its own: inputs from S3, then its entrypoint, with a folder for /opt/ml."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from moto.s3.utils import bucket_and_name_from_url

from fleet_emulator import process_state
from fleet_emulator.sagemaker.jobs.job import COMPLETED, FAILED, STOPPED, Job
from fleet_emulator.sagemaker.jobs.request import JobFiles
from fleet_emulator.state_lock import turn
from fleet_emulator.work.log_stream import LogStream
from fleet_emulator.work.machine import NOTE, Machine
from fleet_emulator.work.task import ExitReason, Outcome

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

log = logging.getLogger("fleet_emulator")

_MAX_REASON = 1024
"""Characters of ExitMessage and FailureReason; source: SageMaker API reference."""


class InputError(Exception):
    """An input cannot be had; the words begin as SageMaker's do."""


def run_job(job: Job, *, account: str, region: str) -> None:
    """Run it to its end, whatever that is."""
    try:
        with tempfile.TemporaryDirectory(prefix="fleet-job-", ignore_cleanup_errors=True) as folder:
            _run(job, Path(folder), account, region)
    except Exception as error:
        log.exception("the job %s failed", job.request.name)
        with turn():
            job.end(FAILED, reason=f"InternalServerError: {error}")


def _run(job: Job, root: Path, account: str, region: str) -> None:
    request, ml = job.request, root / "opt" / "ml"
    (ml / "output").mkdir(parents=True)
    s3 = process_state.current().s3(account, region)
    try:
        for each in request.inputs:
            _copy_input(each, root, s3)
    except InputError as error:
        with turn():
            job.end(FAILED, reason=str(error)[:_MAX_REASON])
        return
    stream = f"{request.name}/algo-1-{int(time.time() * 1000)}"
    log = LogStream(account, region, group=f"/aws/sagemaker/{request.kind}Jobs", stream=stream)
    log.write(NOTE)
    for output in request.outputs:
        Path(_local_path(output.folder, root)).mkdir(parents=True, exist_ok=True)
    machine = Machine.of_instance(request.image, request.instance_type)
    variables = {
        **machine.variables(root, account=account, region=region, is_isolated=request.is_isolated),
        **{name: _local_path(value, root) for name, value in request.environment.items()},
    }
    command = [_local_path(each, root) for each in request.command]
    with turn():
        job.start()
    try:
        outcome = job.task.run(command, variables, folder=ml, write=log.write)
    except OSError as error:
        with turn():
            job.end(FAILED, reason=f"AlgorithmError: {error}"[:_MAX_REASON])
        return
    if outcome.succeeded:
        for output in request.outputs:
            _copy_output(output, root, s3)
    with turn():
        _end(job, outcome, ml / "output")


def _end(job: Job, outcome: Outcome, output: Path) -> None:
    job.exit_message = _words(output / "message")
    if outcome.succeeded:
        job.end(COMPLETED)
    elif outcome.ending is ExitReason.EXITED:
        words = _words(output / "failure") if job.request.kind == "Training" else ""
        reason = words or "See job logs for more information"
        code = f", exit code: {outcome.code}"
        job.end(FAILED, reason=f"AlgorithmError: {reason}"[: _MAX_REASON - len(code)] + code)
    else:
        late = outcome.ending is ExitReason.TIMED_OUT
        job.end(STOPPED, secondary="MaxRuntimeExceeded" if late else "")


def _words(file: Path) -> str:
    """What the container left in a file, cut to what a job's status holds."""
    return file.read_text("utf-8", "replace")[:_MAX_REASON] if file.is_file() else ""


def _local_path(path: str, root: Path) -> str:
    """A path of the container as it is on this machine; other text as it is."""
    return f"{root}{path}" if path == "/opt/ml" or path.startswith("/opt/ml/") else path


def _copy_input(wanted: JobFiles, root: Path, s3: S3Client) -> None:
    """Copy all objects below a prefix.

    Raises:
        InputError: there are none, or one has a key that leads out of its folder.
    """
    bucket, prefix = bucket_and_name_from_url(wanted.uri)
    folder = Path(_local_path(wanted.folder, root))
    found = 0
    try:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket or "", Prefix=prefix or ""):
            for each in page.get("Contents", ()):
                found += 1
                file = folder / _file_name(each["Key"], prefix or "")
                if not file.resolve().is_relative_to(folder.resolve()):
                    raise InputError(f"ClientError: {each['Key']} leads out of {wanted.folder}")
                file.parent.mkdir(parents=True, exist_ok=True)
                s3.download_file(bucket or "", each["Key"], str(file))
    except ClientError as error:
        raise InputError(f"ClientError: Data download failed: {error}") from error
    if not found:
        raise InputError(f"ClientError: Data download failed: No S3 objects found under S3 URL {wanted.uri}")


def _copy_output(output: JobFiles, root: Path, s3: S3Client) -> None:
    """Upload the files of a folder; no links, which may lead to files of this machine."""
    bucket, prefix = bucket_and_name_from_url(output.uri)
    folder = Path(_local_path(output.folder, root))
    for path, _, names in os.walk(folder):
        for file in (Path(path) / name for name in names):
            if file.is_file() and not file.is_symlink():
                key = f"{(prefix or '').rstrip('/')}/{file.relative_to(folder).as_posix()}"
                s3.upload_file(str(file), bucket or "", key)


def _file_name(key: str, prefix: str) -> str:
    """An object keeps its own name, and what is below a folder its path in it."""
    below = key.removeprefix(prefix)
    return (
        below.lstrip("/") if below and (prefix.endswith("/") or below[0] == "/") else key.rpartition("/")[2]
    )
