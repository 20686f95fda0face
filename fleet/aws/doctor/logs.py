"""The newest lines of a log group, as many as one answer of CloudWatch holds for each of a few streams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from fleet.aws.doctor.observation import SeenLog

STREAMS_ASKED = 50
"""As many as one answer of DescribeLogStreams has."""
STREAMS_OF_A_VARIANT = 3
"""The newest instances of each variant are read: a deploy that fails has begun them last."""
EMPTY_PAGES = 3
"""So many answers without a line are followed; CloudWatch gives some before it gives lines."""


def read_log(logs: Any, group: str, of: str, since: datetime, *, about: str = "") -> SeenLog:
    """What a log group has since a moment, the newest 1 MiB of each stream; with `about` the lines with it.

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
    """The newest streams of each variant; a stream is called VARIANT/INSTANCE.

    By their creation: those of old instances that serve on have the newest lines, and when a stream had its
    last line CloudWatch knows only after a while.
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
            return [line for event in page["events"] for line in event["message"].splitlines()]
        token = {"nextToken": page["nextBackwardToken"]}
    return []
