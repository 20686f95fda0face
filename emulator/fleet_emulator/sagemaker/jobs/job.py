"""One job as Describe shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from moto.core.utils import utcnow

from fleet_emulator.sagemaker.jobs.request import JobRequest
from fleet_emulator.work.task import Task

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
