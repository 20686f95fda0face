"""Processing and training jobs, which moto completes at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from moto.core.responses import ActionResult, EmptyResult
from moto.sagemaker.exceptions import ResourceInUseException, ValidationError
from moto.sagemaker.models import SageMakerModelBackend
from moto.sagemaker.responses import SageMakerResponse
from moto.sagemaker.utils import arn_formatter

from fleet_emulator import process_state
from fleet_emulator.sagemaker.jobs.job import Job
from fleet_emulator.sagemaker.jobs.request import JobKind, JobRequest
from fleet_emulator.sagemaker.jobs.run import run_job
from fleet_emulator.work.task import Task


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
