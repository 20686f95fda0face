"""What both kinds of jobs are asked for, read from their requests; what has no effect here is refused.

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

_KNOWN = {
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
_KNOWN_OF_BOTH = {"RoleArn", "StoppingCondition", "Environment", "Tags"}
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
        for name in sorted(body.keys() - _KNOWN[kind] - _KNOWN_OF_BOTH - {f"{kind}JobName"}):
            raise ValidationError(f"The embedded AWS runs no {kind.lower()} job with {name}.")
        processing = kind == "Processing"
        program = body["AppSpecification" if processing else "AlgorithmSpecification"]
        cluster = body["ProcessingResources"]["ClusterConfig"] if processing else body["ResourceConfig"]
        network = body.get("NetworkConfig", {}) if processing else body
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
            inputs=tuple(_inputs(body.get("ProcessingInputs", ())) if processing else _channels(body)),
            outputs=tuple(_outputs(body) if processing else _model(body)),
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


def _inputs(declared: Sequence[Mapping[str, Any]]) -> list[JobFiles]:
    return [JobFiles(uri=each["S3Input"]["S3Uri"], folder=each["S3Input"]["LocalPath"]) for each in declared]


def _channels(body: Mapping[str, Any]) -> list[JobFiles]:
    return [
        JobFiles(uri=each["DataSource"]["S3DataSource"]["S3Uri"], folder=f"{_CHANNELS}/{each['ChannelName']}")
        for each in body.get("InputDataConfig", ())
    ]


def _outputs(body: Mapping[str, Any]) -> list[JobFiles]:
    declared = body.get("ProcessingOutputConfig", {}).get("Outputs", ())
    return [
        JobFiles(uri=each["S3Output"]["S3Uri"], folder=each["S3Output"]["LocalPath"]) for each in declared
    ]


def _model(body: Mapping[str, Any]) -> list[JobFiles]:
    """A training job's model as files; the archive, which SageMaker makes otherwise, is not made here."""
    output = body["OutputDataConfig"]
    if output.get("CompressionType") != "NONE":
        return []
    uri = f"{output['S3OutputPath'].rstrip('/')}/{body['TrainingJobName']}/output/model"
    return [JobFiles(uri=uri, folder=_MODEL)]


COMPLETED, FAILED, STOPPED = "Completed", "Failed", "Stopped"


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
    created: datetime = field(default_factory=utcnow)
    started: datetime | None = None
    ended: datetime | None = None

    def start(self) -> None:
        """The container runs from now on."""
        self.started, self.secondary = utcnow(), "Training"

    def end(self, status: str, *, secondary: str = "", reason: str = "") -> None:
        """It is over."""
        self.status, self.secondary, self.failure_reason = status, secondary or status, reason
        self.ended = utcnow()

    @property
    def description(self) -> dict[str, Any]:
        """As the API shows it."""
        kind, request = self.request.kind, self.request
        shown = {
            **{key: value for key, value in request.body.items() if key != "Tags"},
            f"{kind}JobArn": self.arn,
            f"{kind}JobStatus": self.status,
            "CreationTime": self.created,
            "LastModifiedTime": self.ended or self.started or self.created,
            f"{kind}StartTime": self.started,
            f"{kind}EndTime": self.ended,
            "FailureReason": self.failure_reason,
        }
        if kind == "Processing":
            shown["ExitMessage"] = self.exit_message
        else:
            shown["SecondaryStatus"] = self.secondary
            declared = request.body["OutputDataConfig"]
            name = "model/" if declared.get("CompressionType") == "NONE" else "model.tar.gz"
            output = f"{declared['S3OutputPath']}/{request.name}/output/{name}"
            shown["ModelArtifacts"] = {"S3ModelArtifacts": output}
        return {key: value for key, value in shown.items() if value not in (None, "")}
