"""The time at AWS, which dates what its services store: this machine's clock may be wrong, or jump."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


def answered_at(answer: Mapping[str, Any]) -> datetime:
    """The time at which AWS sent boto3's `answer`, in whole seconds.

    Raises:
        ValueError: the answer has no date.
    """
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date", "")
    return parsedate_to_datetime(date).astimezone(UTC)
