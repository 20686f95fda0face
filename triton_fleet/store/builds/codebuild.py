"""The AWS services of builds, and CodeBuild's builds: starts, reads and stops them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from triton_fleet.builds.start import BuildStart
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_ssm.client import SSMClient


@dataclass(frozen=True, kw_only=True)
class BuildClients:
    """Clients of one account and region; threads may share them."""

    s3: S3Client
    ssm: SSMClient
    codebuild: Any
    logs: Any


Builders: TypeAlias = "Callable[[], BuildClients]"
"""Creates the clients; called only if an engine has to be built."""


def no_builders() -> BuildClients:
    """The stand-in for `Builders` where no engine may be built.

    Raises:
        CannotRunError: always.
    """
    raise CannotRunError(
        "an engine has to be built, which this command does not do", "publish the endpoint first"
    )


LIMIT, NO_PROJECT = "AccountLimitExceededException", "ResourceNotFoundException"
NO_QUOTA = "more than 0 builds"
"""In CodeBuild's message if the quota is 0: waiting does not help."""
INVALID_INPUT = "InvalidInputException"
THROTTLING_CODES = {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"}
"""Codes of requests that are retried a little later."""
SERVER_ERROR = 500
IN_PROGRESS, SUCCEEDED, STOPPED, TIMED_OUT = "IN_PROGRESS", "SUCCEEDED", "STOPPED", "TIMED_OUT"


def passes(error: Exception) -> bool:
    """Whether CodeBuild may answer differently a little later."""
    if not isinstance(error, ClientError):
        return isinstance(error, BotoCoreError)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= SERVER_ERROR or error.response["Error"]["Code"] in THROTTLING_CODES


class LimitError(Exception):
    """The account's quota of builds is used up; the message is CodeBuild's."""


class RefusalError(Exception):
    """CodeBuild refuses a build; the message is CodeBuild's.

    Attributes:
        is_quota: Whether the account's quota for such builds is 0: waiting does not help.
    """

    def __init__(self, reason: str, *, is_quota: bool) -> None:
        super().__init__(reason)
        self.is_quota = is_quota


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


def start_build(codebuild: Any, start: BuildStart, token: str) -> str:
    """Start a build, whose request is already in the bucket; return its id.

    Args:
        codebuild: The client.
        start: What it is started with.
        token: A request with the same token starts no second build, if the answer to the first was lost.

    Raises:
        LimitError: the account's quota of builds is used up.
        RefusalError: CodeBuild refuses what this build needs, or the account's quota for such builds is 0.
        CannotRunError: the project does not exist.
        ClientError: CodeBuild refuses otherwise.
    """
    try:
        return str(codebuild.start_build(**start.request, idempotencyToken=token)["build"]["id"])
    except ClientError as error:
        code, reason = error.response["Error"]["Code"], error.response["Error"]["Message"]
        if code == LIMIT and NO_QUOTA in reason:
            raise RefusalError(reason, is_quota=True) from error
        if code == LIMIT or code in THROTTLING_CODES:
            raise LimitError(reason) from error
        if code == NO_PROJECT:
            problem = f"the CodeBuild project {start.project} does not exist"
            raise CannotRunError(problem, start.foundation) from error
        if code == INVALID_INPUT:
            raise RefusalError(reason, is_quota=False) from error
        raise


def describe_build(codebuild: Any, id: str) -> Build | None:
    """A build; None if the id does not exist.

    Raises:
        ClientError: CodeBuild refuses.
    """
    answer = codebuild.batch_get_builds(ids=[id])["builds"]
    if not answer:
        return None
    build, logs = answer[0], answer[0].get("logs", {})
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


MAX_LOG_LINES = 15
"""How many last log lines are reported of a build that fails without a reason."""
AGENT = "[Container]"
"""The beginning of CodeBuild's own lines."""
NO_LOG = "ResourceNotFoundException"


class BuildLog:
    """Reads a log step by step, another build's from its beginning; `last` are the build's own last lines."""

    def __init__(self, logs: Any) -> None:
        self._logs, self._stream, self._token = logs, "", ""
        self.last: deque[str] = deque(maxlen=MAX_LOG_LINES)

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
