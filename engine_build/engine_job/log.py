"""A job's log, copied to this one as it grows."""

from __future__ import annotations

import sys
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError


class JobLog:
    """The streams of a job; what CloudWatch does not give now is given by a later copy."""

    def __init__(self, logs: Any, group: str, job: str) -> None:
        self._logs, self._group, self._job = logs, group, job
        self._tokens: dict[str, str] = {}
        self._has_complained = False

    def copy(self) -> None:
        """Print what is new."""
        try:
            for stream in self._streams():
                self._copy_stream(stream)
        except (ClientError, BotoCoreError) as error:
            if _is_absent(error) or self._has_complained:
                return
            self._has_complained = True
            print(f"the log of {self._job} cannot be read now: {error}", file=sys.stderr)

    def _streams(self) -> list[str]:
        answer = self._logs.describe_log_streams(
            logGroupName=self._group, logStreamNamePrefix=f"{self._job}/"
        )
        return [stream["logStreamName"] for stream in answer["logStreams"]]

    def _copy_stream(self, stream: str) -> None:
        source = {"logGroupName": self._group, "logStreamName": stream, "startFromHead": True}
        while True:
            token = self._tokens.get(stream)
            answer = self._logs.get_log_events(**source, **({} if token is None else {"nextToken": token}))
            for event in answer["events"]:
                print(event["message"])
            self._tokens[stream] = answer["nextForwardToken"]
            if answer["nextForwardToken"] == token:
                return


def _is_absent(error: Exception) -> bool:
    """Whether the job has not written anything yet."""
    return isinstance(error, ClientError) and error.response["Error"]["Code"] == "ResourceNotFoundException"
