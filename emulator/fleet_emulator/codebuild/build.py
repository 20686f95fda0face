"""One build as BatchGetBuilds shows it: its phases, its status, what it was started with."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from moto.core.utils import utcnow

from fleet_emulator.work.task import Task

QUEUED = "QUEUED"
SUCCEEDED, FAILED, STOPPED, TIMED_OUT = "SUCCEEDED", "FAILED", "STOPPED", "TIMED_OUT"


@dataclass(kw_only=True)
class Build:
    """A build; all of it is read and changed within one's turn.

    Attributes:
        id: `PROJECT:UUID`.
        declared: The project's settings, with those of the build in their place.
        log: Its group and its stream.
        task: What runs it; None while it is queued.
    """

    id: str
    arn: str
    number: int
    project: str
    declared: Mapping[str, Any]
    log: tuple[str, str]
    task: Task | None = None
    status: str = "IN_PROGRESS"
    started: datetime = field(default_factory=utcnow)
    ended: datetime | None = None
    phases: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, phase: str) -> None:
        """Enter a phase."""
        self.phases.append({"phaseType": phase, "startTime": utcnow()})

    def end(self, status: str = SUCCEEDED, *, code: str = "", message: str = "") -> None:
        """Leave the phase; the first one that does not succeed decides what the build's status will be."""
        phase, now = self.phases[-1], utcnow()
        seconds = int((now - phase["startTime"]).total_seconds())
        phase.update(phaseStatus=status, endTime=now, durationInSeconds=seconds)
        phase["contexts"] = [{"statusCode": code, "message": message}]

    @property
    def machine(self) -> tuple[str, str]:
        """Its environment and compute type, which CodeBuild counts apart."""
        environment = self.declared["environment"]
        return environment["type"], environment["computeType"]

    @property
    def is_queued(self) -> bool:
        """Whether it waits for another build."""
        return self.ended is None and self.task is None

    @property
    def outcome(self) -> str:
        """What its phases make of it so far."""
        ended = [phase["phaseStatus"] for phase in self.phases if "phaseStatus" in phase]
        failed = [status for status in ended if status != SUCCEEDED]
        return failed[0] if failed else SUCCEEDED

    def complete(self) -> None:
        """End it."""
        self.status = self.outcome
        self.begin("COMPLETED")
        self.ended = utcnow()

    @property
    def state_change(self) -> dict[str, Any]:
        """What EventBridge hears of it; what its phases and artifacts were is left out.

        Source: CodeBuild user guide, sample-build-notifications-ref.html.
        """
        group, stream = self.log
        environment, source = self.declared["environment"], self.declared["source"]
        region = self.arn.split(":")[3]
        return {
            "build-status": self.status,
            "project-name": self.project,
            "build-id": self.arn,
            "current-phase": self.phases[-1]["phaseType"],
            "version": "1",
            "additional-information": {
                "build-complete": self.ended is not None,
                "build-number": self.number,
                "environment": {
                    "image": environment["image"],
                    "type": environment["type"],
                    "compute-type": environment["computeType"],
                    "environment-variables": environment["environmentVariables"],
                },
                "source": {"type": source["type"], "location": source.get("location", "")},
                "logs": {
                    "group-name": group,
                    "stream-name": stream,
                    "deep-link": f"https://console.aws.amazon.com/cloudwatch/home?region={region}"
                    f"#logEvent:group={group};stream={stream}",
                },
            },
        }

    @property
    def description(self) -> dict[str, Any]:
        """As the API shows it."""
        group, stream = self.log
        ended = {"endTime": self.ended} if self.ended else {}
        return {
            **deepcopy(dict(self.declared)),
            **ended,
            "id": self.id,
            "arn": self.arn,
            "buildNumber": self.number,
            "startTime": self.started,
            "currentPhase": self.phases[-1]["phaseType"],
            "buildStatus": self.status,
            "buildComplete": self.ended is not None,
            "projectName": self.project,
            "phases": deepcopy(self.phases),
            "logs": {"groupName": group, "streamName": stream, "cloudWatchLogs": {"status": "ENABLED"}},
            "initiator": "embedded-aws",
        }
