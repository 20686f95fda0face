"""What time it is at AWS, whose services date what they keep: this machine's clock may be wrong, or jump."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


def answered_at(answer: Mapping[str, Any]) -> datetime:
    """When AWS gave an answer, in whole seconds; `answer` is boto3's.

    Raises:
        ValueError: it does not say.
    """
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date", "")
    return parsedate_to_datetime(date).astimezone(UTC)
