"""The newest lines of a log group: one answer of CloudWatch for each of a few streams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.aws.doctor.observation import SeenLog
from triton_fleet.core.log_lines import plain_line

STREAMS_ASKED = 50
"""The most that one answer of DescribeLogStreams has."""
STREAMS_OF_A_VARIANT = 3
"""The newest instances of each variant are read: a failed deploy started them last."""
EMPTY_PAGES = 3
"""How many empty answers are followed; CloudWatch sends some before it sends lines."""


def read_log(logs: Any, group: str, of: str, since: datetime, *, about: str = "") -> SeenLog:
    """A log group's lines since a time, the newest 1 MiB of each stream; with `about`, only lines with it.

    Raises:
        ClientError: access is denied.
    """
    start = int(since.timestamp() * 1000)
    try:
        names = list(_newest(logs, group))
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        return SeenLog(group=group, of=of, streams={})
    read = {name: tuple(line for line in _lines(logs, group, name, start) if about in line) for name in names}
    return SeenLog(group=group, of=of, streams={name: lines for name, lines in read.items() if lines})


def _newest(logs: Any, group: str) -> Iterator[str]:
    """The newest streams of each variant by creation; a stream's name is VARIANT/INSTANCE.

    The time of the last line would not do: old instances that still serve have the newest lines, and
    CloudWatch updates that time late.
    """
    found = logs.describe_log_streams(
        logGroupName=group, orderBy="LastEventTime", descending=True, limit=STREAMS_ASKED
    )["logStreams"]
    by_variant = defaultdict[str, list[str]](list)
    for stream in sorted(found, key=lambda each: each["creationTime"], reverse=True):
        by_variant[stream["logStreamName"].partition("/")[0]].append(stream["logStreamName"])
    for names in by_variant.values():
        yield from names[:STREAMS_OF_A_VARIANT]


def _lines(logs: Any, group: str, stream: str, start: int) -> list[str]:
    token: dict[str, str] = {}
    for _ in range(EMPTY_PAGES):
        page = logs.get_log_events(
            logGroupName=group, logStreamName=stream, startTime=start, startFromHead=False, **token
        )
        if page["events"]:
            return [plain_line(line) for event in page["events"] for line in event["message"].splitlines()]
        token = {"nextToken": page["nextBackwardToken"]}
    return []
