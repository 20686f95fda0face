"""When a scheduled action acts: expressions and time zones that Application Auto Scaling takes.

Source: Application Auto Scaling API reference, PutScheduledAction, and the refusals that its users quote
(terraform-provider-aws issue 13995: both days given, neither of them `?`).
"""

from __future__ import annotations

import re
from datetime import datetime

from fleet_emulator.autoscaling.targets import InvalidError
from fleet_emulator.product import time_zones

_SYNTAX = (
    r"Schedule expressions must have the following syntax: rate(<number>\s?(minutes?|hours?|days?)), "
    "cron(<cron_expression>) or at(yyyy-MM-dd'T'HH:mm:ss)."
)
_RATE = re.compile(r"rate\([1-9][0-9]*\s?(minutes?|hours?|days?)\)")
_CRON = re.compile(r"cron\(([^()]*)\)")
_AT = re.compile(r"at\(([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})\)")
_FIELD = re.compile(r"[0-9A-Za-z*?,/#-]+")


def require_schedule(schedule: str) -> None:
    """Refuse an invalid schedule; of a cron expression the fields are checked, not their values.

    Raises:
        InvalidError: the first half of its words is Application Auto Scaling's.
    """
    if problem := _problem(schedule):
        raise InvalidError(f"Invalid schedule expression. Details: {problem}")


def require_time_zone(name: str) -> None:
    """Refuse a name that is not an IANA time zone.

    Raises:
        InvalidError: only the code is AWS's, the words are ours.
    """
    if name not in time_zones():
        raise InvalidError(f"Invalid time zone: {name}")


def _problem(schedule: str) -> str:
    if _RATE.fullmatch(schedule):
        return ""
    if at := _AT.fullmatch(schedule):
        return _wrong_time(at[1])
    if cron := _CRON.fullmatch(schedule):
        return _wrong_cron(cron[1].split())
    return _SYNTAX


def _wrong_time(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        return f"Invalid AT expression: {error}"
    return ""


def _wrong_cron(fields: list[str]) -> str:
    if len(fields) != 6:
        return f"Invalid CRON expression: six fields are needed, there are {len(fields)}"
    for field in fields:
        if not _FIELD.fullmatch(field):
            return f"Invalid CRON expression: '{field}'"
    if (fields[2] == "?") == (fields[4] == "?"):
        return "Invalid CRON expression: one of day of month and day of week must be '?'"
    return ""
