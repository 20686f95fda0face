"""SageMaker's two kinds of jobs, as far as a build needs them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from engine_request.files import SCRIPT
from engine_request.host import INPUT, OUTPUT
from engine_request.problems import BY_EXIT_CODE, CANCELLATION, OTHER_FAILURE, REFUSAL, TIME_OUT, BuildError
from engine_request.request import EngineRequest

from .workspace import Workspace

CHANNEL = "engine"
GRACE_SECONDS = 300
"""Seconds that SageMaker lets a job run after its own time-out, so that it can report what happened."""


@dataclass(frozen=True)
class State:
    """The state of a job as SageMaker describes it.

    Attributes:
        status: InProgress, Completed, Failed, Stopping, Stopped.
        detail: A training job's secondary status, which shows the progress of an InProgress one.
        reason: Why it failed, with its exit message.
    """

    status: str
    detail: str
    reason: str

    @property
    def is_over(self) -> bool:
        """Whether it will not change any more."""
        return self.status in ("Completed", "Failed", "Stopped")


class Jobs:
    """Processing or training jobs; every method raises ClientError or BotoCoreError where AWS refuses.

    Attributes:
        kind: "processing" or "training".
        log_group: Where the jobs write.
    """

    def __init__(self, sagemaker: Any, kind: str) -> None:
        self._sagemaker, self.kind = sagemaker, kind
        self._noun = kind.capitalize()
        self.log_group = f"/aws/sagemaker/{self._noun}Jobs"

    def create(self, name: str, request: EngineRequest, workspace: Workspace) -> None:
        """Start one that compiles the request's engine, isolated: it reaches no network and no credentials.

        SageMaker itself reads the inputs and writes the outputs, with the job's role.
        """
        job, inputs, outputs = request.job, INPUT[self.kind], OUTPUT[self.kind]
        entrypoint = ["python3", f"{inputs}/{SCRIPT}", "compile", inputs, outputs]
        source = {
            "S3DataType": "S3Prefix",
            "S3Uri": workspace.input,
            "S3DataDistributionType": "FullyReplicated",
        }
        cluster: dict[str, Any] = {
            "InstanceType": job.instance_type,
            "InstanceCount": 1,
            "VolumeSizeInGB": job.volume_gb,
        }
        if job.volume_key is not None:
            cluster["VolumeKmsKeyId"] = job.volume_key
        common = {
            f"{self._noun}JobName": name,
            "RoleArn": job.role,
            "StoppingCondition": {"MaxRuntimeInSeconds": request.seconds + GRACE_SECONDS},
            "Tags": [{"Key": key, "Value": value} for key, value in sorted(job.tags.items())],
        }
        if self.kind == "processing":
            local = {"LocalPath": inputs, "S3InputMode": "File", "S3CompressionType": "None"}
            target = {"S3Uri": workspace.output, "LocalPath": outputs, "S3UploadMode": "EndOfJob"}
            self._sagemaker.create_processing_job(
                **common,
                ProcessingInputs=[{"InputName": CHANNEL, "S3Input": {**source, **local}}],
                ProcessingOutputConfig={"Outputs": [{"OutputName": CHANNEL, "S3Output": target}]},
                ProcessingResources={"ClusterConfig": cluster},
                AppSpecification={"ImageUri": request.image, "ContainerEntrypoint": entrypoint},
                NetworkConfig={"EnableNetworkIsolation": True},
            )
            return
        self._sagemaker.create_training_job(
            **common,
            AlgorithmSpecification={
                "TrainingImage": request.image,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": entrypoint,
            },
            InputDataConfig=[{"ChannelName": CHANNEL, "DataSource": {"S3DataSource": source}}],
            # Files, and not a tar archive of somebody else that would have to be unpacked.
            OutputDataConfig={"S3OutputPath": workspace.output, "CompressionType": "NONE"},
            ResourceConfig=cluster,
            EnableNetworkIsolation=True,
        )

    def state(self, name: str) -> State:
        """The state of a job."""
        describe = getattr(self._sagemaker, f"describe_{self.kind}_job")
        answer = describe(**{f"{self._noun}JobName": name})
        reasons = (answer.get(key, "") for key in ("FailureReason", "ExitMessage"))
        return State(
            answer[f"{self._noun}JobStatus"],
            answer.get("SecondaryStatus", ""),
            " ".join(part.strip() for part in reasons if part),
        )

    def stop(self, name: str) -> None:
        """Stop a job: it gets SIGTERM, and 2 minutes later SIGKILL."""
        stop = getattr(self._sagemaker, f"stop_{self.kind}_job")
        stop(**{f"{self._noun}JobName": name})


NO_CAPACITY = "try again later, or build in another region or on another size of the family"


def require_success(state: State, name: str) -> None:
    """Refuse a job that did not complete.

    Raises:
        BuildError: it did not; the reason is in the container's exit code and last message.
    """
    if state.status == "Completed":
        return
    reason = f"{name} {state.status.lower()}: {state.reason or state.detail or 'SageMaker gives no reason'}"
    if state.status == "Stopped":
        is_late = "MaxRuntime" in f"{state.detail} {state.reason}"
        raise BuildError(TIME_OUT if is_late else CANCELLATION, reason)
    if re.search(r"Capacity", state.reason):
        raise BuildError(REFUSAL, reason, remedy=NO_CAPACITY)
    # SageMaker writes `AlgorithmError: ..., exit code: 11`.
    code = re.search(r"exit code:? (\d+)", state.reason, re.IGNORECASE)
    raise BuildError(BY_EXIT_CODE.get(int(code[1]), OTHER_FAILURE) if code else REFUSAL, reason)
