"""Processing and training jobs: their API, and their runs on this machine."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError
from moto.core.responses import ActionResult, EmptyResult
from moto.s3.utils import bucket_and_name_from_url
from moto.sagemaker.exceptions import ResourceInUseException, ValidationError
from moto.sagemaker.models import SageMakerModelBackend
from moto.sagemaker.responses import SageMakerResponse
from moto.sagemaker.utils import arn_formatter

from fleet_emulator import process_state
from fleet_emulator.process_state import turn
from fleet_emulator.sagemaker.jobs.request import (
    COMPLETED,
    FAILED,
    STOPPED,
    Job,
    JobFiles,
    JobKind,
    JobRequest,
)
from fleet_emulator.work.machine import NOTE, LogStream, Machine
from fleet_emulator.work.task import ExitReason, Outcome, Task

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


class EmbeddedJobs(SageMakerModelBackend):
    """One account's jobs in one region; neither their roles nor their images are simulated."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._jobs: dict[tuple[JobKind, str], Job] = {}

    def start_job(self, kind: JobKind, body: Mapping[str, Any]) -> Job:
        """CreateProcessingJob or CreateTrainingJob.

        Raises:
            ValidationError: the request is wrong, or asks for what nothing here does.
            ResourceInUseException: there was a job of that name.
        """
        request = JobRequest.of(kind, body)
        arn = arn_formatter(f"{kind.lower()}-job", request.name, self.account_id, self.region_name)
        if (kind, request.name) in self._jobs:
            raise ResourceInUseException(
                "Job name must be unique within an AWS account and region, and a job with this name already "
                f"exists ({arn})"
            )
        task = Task(seconds=request.seconds)
        process_state.current().stop_at_end(task)
        job = self._jobs[kind, request.name] = Job(arn=arn, request=request, task=task)
        process_state.current().spawn(
            partial(run_job, job, account=self.account_id, region=self.region_name),
            name=f"job-{request.name}",
        )
        return job

    def job(self, kind: JobKind, name: str) -> Job:
        """DescribeProcessingJob or DescribeTrainingJob.

        Raises:
            ValidationError: there was none of that name.
        """
        if (kind, name) not in self._jobs:
            arn = arn_formatter(f"{kind.lower()}-job", name, self.account_id, self.region_name)
            raise ValidationError(f"Could not find {kind.lower()} job '{arn}'.")
        return self._jobs[kind, name]

    def stop_job(self, kind: JobKind, name: str) -> None:
        """StopProcessingJob or StopTrainingJob.

        Raises:
            ValidationError: there is none of that name that runs; the words are ours.
        """
        job = self.job(kind, name)
        if job.status != "InProgress":
            raise ValidationError(f"The {kind.lower()} job {name} is {job.status} and cannot be stopped.")
        job.status = job.secondary = "Stopping"
        job.task.stop()


class EmbeddedJobsResponse(SageMakerResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def create_processing_job(self) -> ActionResult:
        """CreateProcessingJob."""
        return self._create("Processing")

    def describe_processing_job(self) -> ActionResult:
        """DescribeProcessingJob."""
        return self._describe("Processing")

    def stop_processing_job(self) -> ActionResult:
        """StopProcessingJob."""
        return self._stop("Processing")

    def create_training_job(self) -> ActionResult:
        """CreateTrainingJob."""
        return self._create("Training")

    def describe_training_job(self) -> ActionResult:
        """DescribeTrainingJob."""
        return self._describe("Training")

    def stop_training_job(self) -> ActionResult:
        """StopTrainingJob."""
        return self._stop("Training")

    def _create(self, kind: JobKind) -> ActionResult:
        job = self._jobs.start_job(kind, json.loads(self.body))
        return ActionResult({f"{kind}JobArn": job.arn})

    def _describe(self, kind: JobKind) -> ActionResult:
        return ActionResult(self._jobs.job(kind, self._get_param(f"{kind}JobName")).description)

    def _stop(self, kind: JobKind) -> ActionResult:
        self._jobs.stop_job(kind, self._get_param(f"{kind}JobName"))
        return EmptyResult()

    @property
    def _jobs(self) -> EmbeddedJobs:
        return cast(EmbeddedJobs, self.sagemaker_backend)
