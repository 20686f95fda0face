"""Starts, reads and stops CodeBuild's builds of engines."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from fleet.artifacts.engine_script import SOURCES
from fleet.artifacts.engines.request import EngineUse
from fleet.catalog.builds import build_quota
from fleet.engines.object_keys import REQUEST, built_key
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.spec.source import finding_at

REQUEST_VARIABLE, ENDPOINT_VARIABLE = "FLEET_ENGINE_REQUEST", "FLEET_ENGINE_ENDPOINT"
LIMIT, NO_PROJECT = "AccountLimitExceededException", "ResourceNotFoundException"
NO_QUOTA = "more than 0 builds"
"""In CodeBuild's message if the quota is 0: waiting does not help."""
NOT_TAKEN, REFUSED = "InvalidInputException", "FL379"
THROTTLED = {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"}
"""Codes of requests that are retried a little later."""
SERVER_ERROR = 500
IN_PROGRESS, SUCCEEDED, STOPPED, TIMED_OUT = "IN_PROGRESS", "SUCCEEDED", "STOPPED", "TIMED_OUT"


def passes(error: Exception) -> bool:
    """Whether CodeBuild may answer differently a little later."""
    if not isinstance(error, ClientError):
        return isinstance(error, BotoCoreError)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= SERVER_ERROR or error.response["Error"]["Code"] in THROTTLED


class LimitError(Exception):
    """The account's quota of builds is used up; the message is CodeBuild's."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """The state of a build: where its log is, and why its last phase failed, if it did.

    `log_group` and `log_stream` are "" until the log exists.
    """

    id: str
    status: str
    phase: str
    reason: str
    log_group: str
    log_stream: str
    link: str

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status != IN_PROGRESS


def start_build(codebuild: Any, use: EngineUse, script: str, token: str) -> str:
    """Start the build of an engine, whose request is already in the bucket; return its id.

    Args:
        codebuild: The client.
        use: The engine, and the endpoint that it is for.
        script: The key of the build script.
        token: A request with the same token starts no second build, if the answer to the first was lost.

    Raises:
        LimitError: the account's quota of builds is used up.
        CannotRunError: the project does not exist.
        FindingsError: CodeBuild refuses what this engine needs, such as its fleet, or the account's quota
            for such builds is 0.
        ClientError: CodeBuild refuses otherwise.
    """
    engine, place = use.engine, use.endpoint.place
    runner, project = engine.runner, place.engine_project(engine.runner.project)
    url = f"s3://{place.bucket}/{built_key(engine.build.key, REQUEST)}"
    request: dict[str, Any] = {
        "projectName": project,
        "sourceTypeOverride": "S3",
        "sourceLocationOverride": f"{place.bucket}/{script}",
        # The project's own buildspec is for a build without a source. CodeBuild API reference, StartBuild:
        # without this one, "the source code must contain a buildspec file in its root directory".
        "buildspecOverride": (SOURCES / f"{runner.project}.buildspec.yaml").read_text("utf-8"),
        "environmentVariablesOverride": [
            {"name": name, "value": value, "type": "PLAINTEXT"}
            for name, value in ((REQUEST_VARIABLE, url), (ENDPOINT_VARIABLE, use.endpoint.name))
        ],
        "idempotencyToken": token,
    }
    if runner.project == "gpu":
        request |= {
            "imageOverride": use.endpoint.image.uri,
            "imagePullCredentialsTypeOverride": "SERVICE_ROLE",
        }
    if runner.fleet_arn is not None:
        request["fleetOverride"] = {"fleetArn": runner.fleet_arn}
    try:
        return str(codebuild.start_build(**request)["build"]["id"])
    except ClientError as error:
        code, reason = error.response["Error"]["Code"], error.response["Error"]["Message"]
        if code == LIMIT and NO_QUOTA in reason:
            quota = build_quota(runner.project)
            hint = (
                f"request a higher quota {quota!r} of AWS CodeBuild in Service Quotas; a new account's is 0"
            )
            raise FindingsError([_start_failure(use, reason, hint)]) from error
        if code == LIMIT or code in THROTTLED:
            raise LimitError(reason) from error
        if code == NO_PROJECT:
            problem = f"the CodeBuild project {project} does not exist"
            remedy = f"run `fleet deploy --env {place.environment} --foundation` to create it"
            raise CannotRunError(problem, remedy) from error
        if code == NOT_TAKEN:
            raise FindingsError(
                [_start_failure(use, reason, f"the build was chosen because: {runner.why}")]
            ) from error
        raise


def _start_failure(use: EngineUse, reason: str, hint: str) -> Finding:
    message = f"CodeBuild refuses the build of model {use.engine.model!r}: {reason}"
    return finding_at(use.engine.mark, REFUSED, message, hint)


def describe_build(codebuild: Any, id: str) -> Build | None:
    """A build; None if the id does not exist.

    Raises:
        ClientError: CodeBuild refuses.
    """
    found = codebuild.batch_get_builds(ids=[id])["builds"]
    if not found:
        return None
    build, logs = found[0], found[0].get("logs", {})
    return Build(
        id=build["id"],
        status=build["buildStatus"],
        phase=build.get("currentPhase", ""),
        reason=_reason(build),
        log_group=logs.get("groupName") or "",
        log_stream=logs.get("streamName") or "",
        link=logs.get("deepLink") or "",
    )


def _reason(build: Any) -> str:
    messages = [
        context["message"]
        for phase in build.get("phases", [])
        if phase.get("phaseStatus") not in (None, SUCCEEDED)
        for context in phase.get("contexts", [])
        if context.get("message")
    ]
    return messages[0] if messages else ""


KEPT = 15
"""How many last log lines are reported of a build that fails without a reason."""
AGENT = "[Container]"
"""The beginning of CodeBuild's own lines."""
NO_LOG = "ResourceNotFoundException"


class BuildLog:
    """Reads a log step by step, another build's from its beginning; `last` are the build's own last lines."""

    def __init__(self, logs: Any) -> None:
        self._logs, self._stream, self._token = logs, "", ""
        self.last: deque[str] = deque(maxlen=KEPT)

    def read(self, build: Build) -> str:
        """Read new lines; return the last line so far, "" if there is none.

        Raises:
            ClientError: CloudWatch Logs refuses.
        """
        if build.log_stream != self._stream:
            self._stream, self._token = build.log_stream, ""
            self.last.clear()
        while build.log_stream and self._page(build):
            pass
        return self.last[-1] if self.last else ""

    def _page(self, build: Build) -> bool:
        """Whether there may be more lines."""
        after = {"nextToken": self._token} if self._token else {"startFromHead": True}
        try:
            page = self._logs.get_log_events(
                logGroupName=build.log_group, logStreamName=build.log_stream, **after
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == NO_LOG:
                return False  # the log is created with its first line
            raise
        for event in page["events"]:
            for line in event["message"].splitlines():
                if line.strip() and not line.startswith(AGENT):
                    self.last.append(line.rstrip())
        before, self._token = self._token, page["nextForwardToken"]
        # At the end, CloudWatch gives the same token again.
        return before != self._token and bool(page["events"])
