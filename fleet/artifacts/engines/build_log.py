"""The log of a build, as far as it is new."""

from __future__ import annotations

from collections import deque
from typing import Any

from botocore.exceptions import ClientError

from fleet.artifacts.engines.codebuild import Build

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
