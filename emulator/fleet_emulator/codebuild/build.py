"""One build as BatchGetBuilds shows it: its phases, its status, what it was started with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from moto.codebuild.exceptions import InvalidInputException
from moto.core.exceptions import JsonRESTError
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


CONCURRENT_BUILDS = 1
"""In new accounts. CodeBuild's user guide (limits) has 1 for most compute types; measured by
hashicorp/terraform-provider-aws PR 37748."""
QUEUED_BUILDS = 1
"""Five times the limit by the user guide (builds-working). Accounts that may run one build were refused with
the number 1, such as in aws-samples/aws-gateway-load-balancer-suricata-ids-ips-nsm issue 12."""


class AccountLimitExceededError(JsonRESTError):
    """CodeBuild's AccountLimitExceededException."""

    code = 400

    def __init__(self, limit: int) -> None:
        message = f"Cannot have more than {limit} builds in queue for the account"
        super().__init__("AccountLimitExceededException", message)


def require_project_limit(limit: int | None) -> None:
    """Refuse a project that may run more builds than its account.

    Raises:
        InvalidInputException: the limit is larger than that of the account.
    """
    if limit is not None and int(limit) > CONCURRENT_BUILDS:
        raise InvalidInputException(
            "Project-level concurrent build limit cannot exceed the account-level concurrent build limit of"
            f" {CONCURRENT_BUILDS}."
        )


def require_place(build: Build, others: Collection[Build], project_limit: int | None) -> bool:
    """Whether a build runs at once; if not, it is queued.

    Args:
        build: It is started.
        others: All other builds of the account and the region.
        project_limit: Of its project; None without.

    Raises:
        AccountLimitExceededError: the queue is full, or the project runs as many builds as it allows; the
            latter in the words of the account's limit, as no public source quotes others.
    """
    active = [each for each in others if each.ended is None]
    if project_limit is not None and sum(each.project == build.project for each in active) >= int(
        project_limit
    ):
        raise AccountLimitExceededError(int(project_limit))
    alike = [each for each in active if each.machine == build.machine]
    queued = sum(each.is_queued for each in alike)
    if not queued and len(alike) < CONCURRENT_BUILDS:
        return True
    if queued >= QUEUED_BUILDS:
        raise AccountLimitExceededError(QUEUED_BUILDS)
    return False


def next_in_queue(machine: tuple[str, str], builds: Collection[Build]) -> Build | None:
    """The queued build that runs next on such a machine; None where none waits, or none may run."""
    active = [build for build in builds if build.ended is None and build.machine == machine]
    queued = [each for each in active if each.is_queued]
    return queued[0] if queued and len(active) - len(queued) < CONCURRENT_BUILDS else None
