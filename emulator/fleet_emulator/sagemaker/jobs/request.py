"""The requests for both kinds of jobs; settings that have no effect here are refused.

Source: SageMaker API reference, CreateProcessingJob and CreateTrainingJob.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from moto.core.utils import utcnow
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.product import instance, instance_types
from fleet_emulator.sagemaker.constraints import require_shape
from fleet_emulator.work.task import Task

JobKind = Literal["Processing", "Training"]

_KEYS = {
    "Processing": {
        "AppSpecification",
        "NetworkConfig",
        "ProcessingInputs",
        "ProcessingOutputConfig",
        "ProcessingResources",
    },
    "Training": {
        "AlgorithmSpecification",
        "EnableNetworkIsolation",
        "InputDataConfig",
        "OutputDataConfig",
        "ResourceConfig",
    },
}
_COMMON_KEYS = {"RoleArn", "StoppingCondition", "Environment", "Tags"}
_CHANNELS = "/opt/ml/input/data"


_MODEL = "/opt/ml/model"


@dataclass(frozen=True, kw_only=True)
class JobFiles:
    """An address of S3, and the folder below /opt/ml of which it is the source or the target."""

    uri: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job.

    Attributes:
        command: The entrypoint with its arguments.
        is_isolated: Whether the container reaches neither a network nor credentials.
        seconds: How long it may run.
        body: The whole request, as Describe repeats it.
    """

    kind: JobKind
    name: str
    image: str
    instance_type: str
    command: tuple[str, ...]
    inputs: tuple[JobFiles, ...]
    outputs: tuple[JobFiles, ...]
    is_isolated: bool
    environment: Mapping[str, str]
    seconds: int
    body: Mapping[str, Any]

    @classmethod
    def of(cls, kind: JobKind, body: Mapping[str, Any]) -> JobRequest:
        """Read a request.

        Raises:
            ValidationError: it is not what botocore's model of SageMaker takes, or asks for what nothing here
                does.
        """
        require_shape(f"Create{kind}JobRequest", body, "")
        for name in sorted(body.keys() - _KEYS[kind] - _COMMON_KEYS - {f"{kind}JobName"}):
            raise ValidationError(f"The embedded AWS runs no {kind.lower()} job with {name}.")
        is_processing = kind == "Processing"
        program = body["AppSpecification" if is_processing else "AlgorithmSpecification"]
        cluster = body["ProcessingResources"]["ClusterConfig"] if is_processing else body["ResourceConfig"]
        network = body.get("NetworkConfig", {}) if is_processing else body
        if "VpcConfig" in network:
            raise ValidationError(f"The embedded AWS runs no {kind.lower()} job with VpcConfig.")
        _require_cluster(cluster)
        command = (*program.get("ContainerEntrypoint", ()), *program.get("ContainerArguments", ()))
        if not command:
            raise ValidationError("The embedded AWS has no images: a job needs a ContainerEntrypoint.")
        return cls(
            kind=kind,
            name=body[f"{kind}JobName"],
            image=program.get("ImageUri") or program.get("TrainingImage", ""),
            instance_type=cluster["InstanceType"],
            command=command,
            inputs=tuple(_inputs(body.get("ProcessingInputs", ())) if is_processing else _channels(body)),
            outputs=tuple(_outputs(body) if is_processing else _model(body)),
            is_isolated=network.get("EnableNetworkIsolation", False),
            environment=body.get("Environment", {}),
            seconds=body.get("StoppingCondition", {}).get("MaxRuntimeInSeconds", 86_400),
            body=body,
        )


def _require_cluster(cluster: Mapping[str, Any]) -> None:
    if cluster.get("InstanceCount", 1) != 1:
        raise ValidationError("The embedded AWS runs a job in one process, not on several instances.")
    name = cluster["InstanceType"]
    if "VolumeKmsKeyId" in cluster and name in instance_types() and instance(name).nvme_gb:
        raise ValidationError(f"VolumeKmsKeyId cannot be specified for {name}, which has local storage.")


def _inputs(inputs: Sequence[Mapping[str, Any]]) -> list[JobFiles]:
    return [JobFiles(uri=item["S3Input"]["S3Uri"], folder=item["S3Input"]["LocalPath"]) for item in inputs]


def _channels(body: Mapping[str, Any]) -> list[JobFiles]:
    return [
        JobFiles(
            uri=channel["DataSource"]["S3DataSource"]["S3Uri"], folder=f"{_CHANNELS}/{channel['ChannelName']}"
        )
        for channel in body.get("InputDataConfig", ())
    ]


def _outputs(body: Mapping[str, Any]) -> list[JobFiles]:
    outputs = body.get("ProcessingOutputConfig", {}).get("Outputs", ())
    return [
        JobFiles(uri=output["S3Output"]["S3Uri"], folder=output["S3Output"]["LocalPath"])
        for output in outputs
    ]


def _model(body: Mapping[str, Any]) -> list[JobFiles]:
    """A training job's model as files; the archive, which SageMaker makes otherwise, is not made here."""
    output = body["OutputDataConfig"]
    if output.get("CompressionType") != "NONE":
        return []
    uri = f"{output['S3OutputPath'].rstrip('/')}/{body['TrainingJobName']}/output/model"
    return [JobFiles(uri=uri, folder=_MODEL)]


COMPLETED_STATUS, FAILED_STATUS, STOPPED_STATUS = "Completed", "Failed", "Stopped"


@dataclass(kw_only=True)
class Job:
    """A job; all of it is read and changed within one's turn.

    Attributes:
        status: InProgress, Stopping, Completed, Failed or Stopped.
        secondary: What a training job does, or how it ended.
        exit_message: What the container left in /opt/ml/output/message.
    """

    arn: str
    request: JobRequest
    task: Task
    status: str = "InProgress"
    secondary: str = "Starting"
    failure_reason: str = ""
    exit_message: str = ""
    creation_time: datetime = field(default_factory=utcnow)
    start_time: datetime | None = None
    end_time: datetime | None = None

    def start(self) -> None:
        """The container runs from now on."""
        self.start_time, self.secondary = utcnow(), "Training"

    def end(self, status: str, *, secondary: str = "", reason: str = "") -> None:
        """It is over."""
        self.status, self.secondary, self.failure_reason = status, secondary or status, reason
        self.end_time = utcnow()

    @property
    def description(self) -> dict[str, Any]:
        """As the API shows it."""
        kind, request = self.request.kind, self.request
        answer = {
            **{key: value for key, value in request.body.items() if key != "Tags"},
            f"{kind}JobArn": self.arn,
            f"{kind}JobStatus": self.status,
            "CreationTime": self.creation_time,
            "LastModifiedTime": self.end_time or self.start_time or self.creation_time,
            f"{kind}StartTime": self.start_time,
            f"{kind}EndTime": self.end_time,
            "FailureReason": self.failure_reason,
        }
        if kind == "Processing":
            answer["ExitMessage"] = self.exit_message
        else:
            answer["SecondaryStatus"] = self.secondary
            output_config = request.body["OutputDataConfig"]
            name = "model/" if output_config.get("CompressionType") == "NONE" else "model.tar.gz"
            output = f"{output_config['S3OutputPath']}/{request.name}/output/{name}"
            answer["ModelArtifacts"] = {"S3ModelArtifacts": output}
        return {key: value for key, value in answer.items() if value not in (None, "")}
