"""CodeBuild's builds of engines: started, looked at, stopped."""

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
"""In CodeBuild's message to an account that may run no build: waiting does not help."""
NOT_TAKEN, REFUSED = "InvalidInputException", "FL379"
THROTTLED = {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"}
"""Codes of requests that are made again a little later."""
SERVER_ERROR = 500
IN_PROGRESS, SUCCEEDED, STOPPED, TIMED_OUT = "IN_PROGRESS", "SUCCEEDED", "STOPPED", "TIMED_OUT"


def passes(error: Exception) -> bool:
    """Whether CodeBuild may answer otherwise a little later."""
    if not isinstance(error, ClientError):
        return isinstance(error, BotoCoreError)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= SERVER_ERROR or error.response["Error"]["Code"] in THROTTLED


class LimitError(Exception):
    """The account runs, or asks for, as many builds as it may; the message is CodeBuild's."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """A build as it is: where its log is, and why its last phase failed, if it did.

    `log_group` and `log_stream` are "" before there is a log.
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
        """Whether nothing more comes of it."""
        return self.status != IN_PROGRESS


def start_build(codebuild: Any, use: EngineUse, script: str, token: str) -> str:
    """Start the build of an engine, whose request is in the bucket already; its id.

    Args:
        codebuild: The client.
        use: The engine, and the endpoint that it is for.
        script: The key of the build script.
        token: The same one starts no second build, where the answer to the first request was lost.

    Raises:
        LimitError: the account runs as many builds as it may.
        CannotRunError: the project is not there.
        FindingsError: CodeBuild does not take what this engine asks for, such as its fleet, or the account
            may run no build of its kind.
        ClientError: CodeBuild refuses otherwise.
    """
    engine, place = use.engine, use.endpoint.place
    runner, project = engine.runner, place.engine_project(engine.runner.project)
    url = f"s3://{place.bucket}/{built_key(engine.build.key, REQUEST)}"
    request: dict[str, Any] = {
        "projectName": project,
        "sourceTypeOverride": "S3",
        "sourceLocationOverride": f"{place.bucket}/{script}",
        # The project's own is that of a build without a source. CodeBuild API reference, StartBuild: without
        # this one, "the source code must contain a buildspec file in its root directory".
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
        code, said = error.response["Error"]["Code"], error.response["Error"]["Message"]
        if code == LIMIT and NO_QUOTA in said:
            quota = build_quota(runner.project)
            hint = f"ask Service Quotas for more of {quota!r} of AWS CodeBuild; a new account has none"
            raise FindingsError([_start_failure(use, said, hint)]) from error
        if code == LIMIT or code in THROTTLED:
            raise LimitError(said) from error
        if code == NO_PROJECT:
            problem = f"the CodeBuild project {project} is not there"
            remedy = f"run `fleet deploy --env {place.environment} --foundation`, which makes it"
            raise CannotRunError(problem, remedy) from error
        if code == NOT_TAKEN:
            raise FindingsError(
                [_start_failure(use, said, f"it was to be built so: {runner.why}")]
            ) from error
        raise


def _start_failure(use: EngineUse, said: str, hint: str) -> Finding:
    message = f"CodeBuild does not take the build of model {use.engine.model!r}: {said}"
    return finding_at(use.engine.mark, REFUSED, message, hint)


def describe_build(codebuild: Any, id: str) -> Build | None:
    """A build; None if there is none of that id.

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
    said = [
        context["message"]
        for phase in build.get("phases", [])
        if phase.get("phaseStatus") not in (None, SUCCEEDED)
        for context in phase.get("contexts", [])
        if context.get("message")
    ]
    return said[0] if said else ""


KEPT = 15
"""So many last lines are told of a build that fails without saying why."""
AGENT = "[Container]"
"""How lines of CodeBuild's own begin."""
NO_LOG = "ResourceNotFoundException"


class BuildLog:
    """Reads on where it stopped, another build's from its beginning; `last` are the last lines of its own."""

    def __init__(self, logs: Any) -> None:
        self._logs, self._stream, self._token = logs, "", ""
        self.last: deque[str] = deque(maxlen=KEPT)

    def read(self, build: Build) -> str:
        """Read what is new; the last line so far, "" if there is none.

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
        """Whether there may be more."""
        after = {"nextToken": self._token} if self._token else {"startFromHead": True}
        try:
            page = self._logs.get_log_events(
                logGroupName=build.log_group, logStreamName=build.log_stream, **after
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == NO_LOG:
                return False  # it is made with the first line
            raise
        for event in page["events"]:
            for line in event["message"].splitlines():
                if line.strip() and not line.startswith(AGENT):
                    self.last.append(line.rstrip())
        before, self._token = self._token, page["nextForwardToken"]
        # At the end, CloudWatch gives the same token again.
        return before != self._token and bool(page["events"])
