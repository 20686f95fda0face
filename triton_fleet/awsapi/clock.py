"""The time at AWS, which dates what its services store: this machine's clock may be wrong, or jump."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

MAX_SKEW = timedelta(minutes=5)
"""Between AWS's clock and this machine's: past it one of them is wrong; S3 refuses requests at 15 minutes."""


def answered_at(answer: Mapping[str, Any]) -> datetime:
    """The time at which AWS sent boto3's `answer`, in whole seconds.

    Raises:
        ValueError: the answer has no date.
    """
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date", "")
    return parsedate_to_datetime(date).astimezone(UTC)


def clock_difference(answer: Mapping[str, Any]) -> str:
    """The times that both clocks show, as a clause, if they differ by more than `MAX_SKEW`; else "".

    Raises:
        ValueError: the answer has no date.
    """
    ours, theirs = datetime.now(UTC), answered_at(answer)
    return different_clocks(ours, theirs) if abs(ours - theirs) > MAX_SKEW else ""


def different_clocks(ours: datetime, theirs: datetime) -> str:
    """The times that this machine's clock and AWS's show, as a clause."""
    return f"this machine's clock shows {_format_moment(ours)}, and AWS's {_format_moment(theirs)}"


def _format_moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
