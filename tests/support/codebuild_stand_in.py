"""A stand-in for CodeBuild whose builds do as they are told, and for the log that they leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tests.support.artifact_bucket import BUCKET
from triton_fleet.builds.engines.artifacts import FAILURE, MANIFEST, PLAN

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

PLAN_BYTES = b"plan"


@dataclass
class StandInCodeBuild:
    """Builds of one bucket's engines.

    Attributes:
        looked: What happens when a build is looked at, by its id; left out, it succeeds.
        refusals: What StartBuild answers, one after the other, before it starts builds.
        started: The requests of StartBuild that were not refused.
        status: Of each build, by its id.
        ends: When builds were seen to be over, by their ids.
        lines: Of the log of all builds.
        after_start: What happens before StartBuild answers.
        most: So many builds run at one time.
    """

    s3: S3Client
    on_look: Callable[[str], None] | None = None
    refusals: list[Exception] = field(default_factory=list)
    starts: list[dict[str, Any]] = field(default_factory=list)
    status: dict[str, str] = field(default_factory=dict)
    ends: dict[str, datetime] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    reason: str = ""
    after_start: Callable[[], None] | None = None
    max_builds: int = 100

    def start_build(self, **request: Any) -> dict[str, Any]:
        if self.refusals:
            raise self.refusals.pop(0)
        if list(self.status.values()).count("IN_PROGRESS") >= self.max_builds:
            raise refusal(
                "AccountLimitExceededException",
                f"Cannot have more than {self.max_builds} builds in queue for the account",
            )
        self.starts.append(request)
        id = f"{request['projectName']}:{len(self.starts)}"
        self.status[id] = "IN_PROGRESS"
        if self.after_start is not None:
            self.after_start()
        return {"build": {"id": id}}

    def list_builds_for_project(self, *, projectName: str) -> dict[str, Any]:
        return {"ids": list(reversed(self.status))}

    def batch_get_builds(self, *, ids: list[str]) -> dict[str, Any]:
        for id in ids:
            if self.status.get(id) == "IN_PROGRESS":
                (self.on_look or self.succeed)(id)
        return {"builds": [self._build_view(id) for id in ids if id in self.status]}

    def stop_build(self, *, id: str) -> None:
        self.status[id] = "STOPPED"

    def get_log_events(self, **request: Any) -> dict[str, Any]:
        at = int(request.get("nextToken", "0"))
        events = [{"message": line} for line in self.lines[at:]]
        return {"events": events, "nextForwardToken": str(len(self.lines))}

    def succeed(self, id: str) -> None:
        """The build leaves an engine."""
        self.leave(self.prefix(id))
        self.status[id] = "SUCCEEDED"

    def leave(self, prefix: str) -> None:
        """An engine is there."""
        manifest = {"plan": {"digest": "sha256:any", "size": len(PLAN_BYTES)}}
        self.s3.put_object(Bucket=BUCKET, Key=prefix + PLAN, Body=PLAN_BYTES)
        self.s3.put_object(Bucket=BUCKET, Key=prefix + MANIFEST, Body=json.dumps(manifest).encode())

    def fail(self, id: str, **failure: Any) -> None:
        """The build fails, and says so if there is anything to say."""
        if failure:
            body = json.dumps({"remedy": "do better", "log": [], **failure}).encode()
            self.s3.put_object(Bucket=BUCKET, Key=self.prefix(id) + FAILURE, Body=body)
        self.status[id] = "FAILED"

    def prefix(self, id: str) -> str:
        """Where the build's engine goes."""
        variable, *_ = self.starts[int(id.rpartition(":")[2]) - 1]["environmentVariablesOverride"]
        url: str = variable["value"]
        return url.removeprefix(f"s3://{BUCKET}/").removesuffix("request.json")

    def _build_view(self, id: str) -> dict[str, Any]:
        failed_values = {
            "phaseType": "BUILD",
            "phaseStatus": "FAILED",
            "contexts": [{"message": self.reason}],
        }
        is_over = self.status[id] != "IN_PROGRESS"
        number = int(id.rpartition(":")[2])
        return {
            "id": id,
            "buildNumber": number,
            "environment": {
                "environmentVariables": self.starts[number - 1].get("environmentVariablesOverride", [])
            },
            **({"endTime": self.ends.setdefault(id, datetime.now(UTC))} if is_over else {}),
            "buildStatus": self.status[id],
            "currentPhase": "BUILD",
            "phases": [failed_values] if self.reason else [],
            "logs": {"groupName": "group", "streamName": "stream"},
        }


def refusal(code: str, message: str = "no", status: int = 400) -> ClientError:
    """The answer of AWS."""
    answer: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(answer, "StartBuild")
