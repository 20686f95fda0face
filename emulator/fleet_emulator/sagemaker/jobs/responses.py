"""SageMaker's API calls of jobs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.core.responses import ActionResult, EmptyResult
from moto.sagemaker.responses import SageMakerResponse

if TYPE_CHECKING:
    from fleet_emulator.sagemaker.jobs.backend import EmbeddedJobs
    from fleet_emulator.sagemaker.jobs.request import JobKind


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
        return cast("EmbeddedJobs", self.sagemaker_backend)
