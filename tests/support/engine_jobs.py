"""A SageMaker that answers as a test says, checked against the API's own description."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import boto3
from botocore.stub import ANY, Stubber

from engine_job.job import job_name, run_job
from engine_request.bucket import Bucket
from engine_request.request import EngineRequest as ScriptRequest
from tests.support.engine_builds import JOB, EngineStore
from triton_fleet.builds.engines.request import EngineRequest, JobKind

JOB_ARN = "arn:aws:sagemaker:us-east-1:111122223333:processing-job/engine"


class ScriptedSageMaker:
    """Answers of SageMaker and CloudWatch Logs in their order; S3 is the embedded one.

    Attributes:
        waited: The seconds of all pauses; the clock goes on by each, and by nothing else.
        request: What is to be built.
    """

    def __init__(self, store: EngineStore, kind: JobKind = "processing", **job: Any) -> None:
        self.store = store
        self.noun = kind.capitalize()
        self.request: EngineRequest = store.request(job=replace(JOB, kind=kind, **job))
        make: Any = boto3.client
        self._clients = {name: make(name, region_name="us-east-1") for name in ("sagemaker", "logs")}
        self.sagemaker, self.logs = (Stubber(client) for client in self._clients.values())
        self.seconds = 0.0
        self.kind = kind

    def creates(self, expected_value: dict[str, Any] | None = None) -> None:
        self.sagemaker.add_response(
            f"create_{self.kind}_job", {f"{self.noun}JobArn": JOB_ARN}, expected_value
        )

    def refuses(self, operation: str, code: str, message: str = "", status: int = 400) -> None:
        self.sagemaker.add_client_error(
            f"{operation}_{self.kind}_job", code, message, http_status_code=status
        )

    def is_in(
        self, status: str, *events: str, log_error: str = "ResourceNotFoundException", **more: str
    ) -> None:
        """One look: the job's state, and what its log has since, or how CloudWatch refuses it."""
        names = ("JobName", "JobArn", "JobStatus")
        answer: dict[str, Any] = {f"{self.noun}{name}": status for name in names} | more
        answer |= {f"{self.noun}JobArn": JOB_ARN, "CreationTime": 0}
        if self.kind == "processing":
            answer |= {"ProcessingResources": _RESOURCES, "AppSpecification": {"ImageUri": "i"}}
        else:
            answer |= {
                "ModelArtifacts": {"S3ModelArtifacts": "s"},
                "AlgorithmSpecification": {"TrainingInputMode": "File"},
                "ResourceConfig": {"VolumeSizeInGB": 1},
                "StoppingCondition": {},
            } | ({} if "SecondaryStatus" in more else {"SecondaryStatus": status})
        self.sagemaker.add_response(f"describe_{self.kind}_job", answer, {f"{self.noun}JobName": ANY})
        if not events:
            self.logs.add_client_error("describe_log_streams", log_error)
            return
        self.has_log(*events)

    def has_log(self, *events: str) -> None:
        """One stream, of which all but the last look brought nothing."""
        self.logs.add_response(
            "describe_log_streams", {"logStreams": [{"logStreamName": "job/algo-1"}]}, None
        )
        result = [{"message": event} for event in events]
        self.logs.add_response("get_log_events", {"events": result, "nextForwardToken": events[-1]}, None)
        self.logs.add_response("get_log_events", {"events": [], "nextForwardToken": events[-1]}, None)

    @property
    def name(self) -> str:
        """The job's."""
        return job_name(self.request.key.partition(":")[2])

    @property
    def workspace(self) -> str:
        """The prefix of the job's objects."""
        return f"engines/jobs/{self.name}/"

    def leaves(self, plan: bytes = b"a plan", **changes: Any) -> None:
        """Files that SageMaker uploads of the container's output, in the folders that it makes of it."""
        below = "output/" if self.kind == "processing" else f"output/{self.name}/output/model/"
        record = {
            "key": self.request.key,
            "tensorrt": "10.9.0.34",
            "gpu": dict.fromkeys(("name", "compute_capability", "driver", "memory"), "any"),
            "plan": {"digest": f"sha256:{hashlib.sha256(plan).hexdigest()}", "size": len(plan)},
            "build_seconds": 1.5,
            "figures": {},
            "started": "2026-11-26T10:00:00+00:00",
        }
        self.store.put(f"{self.workspace}{below}model.plan", plan)
        self.store.put(f"{self.workspace}{below}record.json", json.dumps(record | changes).encode())

    def stops(self) -> None:
        self.sagemaker.add_response(f"stop_{self.kind}_job", {}, {f"{self.noun}JobName": ANY})

    def run(self, pause: Any = None) -> None:
        """Run the job; `pause` is called instead of each wait, after the clock went on."""

        def sleep(seconds: float) -> None:
            self.seconds += seconds
            if pause is not None:
                pause()

        with ExitStack() as stack:
            for stub in (self.sagemaker, self.logs):
                stack.enter_context(stub)
            run_job(
                ScriptRequest.of(self.request.json().encode()),
                Bucket(self.store.s3, self.request.bucket),
                self._clients.__getitem__,
                sleep=sleep,
                clock=lambda: self.seconds,
            )
        self.sagemaker.assert_no_pending_responses()
        self.logs.assert_no_pending_responses()


_RESOURCES = {"ClusterConfig": {"InstanceCount": 1, "InstanceType": "ml.g4dn.xlarge", "VolumeSizeInGB": 30}}
