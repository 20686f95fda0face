"""When scheduled scaling acts: the expressions and time zones of Application Auto Scaling.

Source: Application Auto Scaling user guide, scheduled-scaling-using-cron-expressions.html; it takes the cron
expressions of Amazon EventBridge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import AfterValidator

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True)
class _Field:
    """One field of a cron expression: its numbers, names for them from `minimum` on, special forms."""

    name: str
    minimum: int
    maximum: int
    names: tuple[str, ...] = ()
    special: str = r"\*"

    def takes(self, text: str) -> bool:
        alone = "?" not in text or text == "?"
        return alone and all(self._takes_part(part) for part in text.split(","))

    def _takes_part(self, part: str) -> bool:
        if re.fullmatch(self.special, part):
            return True
        range_, slash, step = part.partition("/")
        if slash and not (step.isascii() and step.isdigit() and int(step)):
            return False
        ends = [self._number(end) for end in range_.split("-")]
        return (slash != "" and range_ == "*") or (len(ends) <= 2 and None not in ends)

    def beyond_step(self, text: str) -> str:
        """The part whose step leads beyond the field, so that only its first value is left; else empty."""
        for part in text.split(","):
            _, slash, step = part.partition("/")
            if slash and int(step) > self.maximum - self.minimum:
                return part
        return ""

    def values(self, text: str) -> frozenset[int] | None:
        """The values that a text without special forms selects; None with one, or in falling order."""
        values = set[int]()
        for part in text.split(","):
            range_, slash, step = part.partition("/")
            ends = [self._number(end) for end in range_.split("-")]
            if range_ == "*":
                first, last = self.minimum, self.maximum
            elif ends[0] is None or ends[-1] is None:
                return None
            else:
                first, last = ends[0], self.maximum if slash and len(ends) == 1 else ends[-1]
            if first > last:
                return None
            values.update(range(first, last + 1, int(step or 1)))
        return frozenset(values)

    def _number(self, text: str) -> int | None:
        if text.upper() in self.names:
            return self.minimum + self.names.index(text.upper())
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else -1
        return number if self.minimum <= number <= self.maximum else None


_FIELDS = (
    _Field("minutes", 0, 59),
    _Field("hours", 0, 23),
    _Field("day of month", 1, 31, special=r"[*?L]|LW|([1-9]|[12][0-9]|3[01])W"),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 1, 7, _DAYS, special=r"[*?L]|[1-7]L|[1-7]#[1-5]"),
    _Field("year", 1970, 2199),
)
_DAYS_OF_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TIME = "%Y-%m-%dT%H:%M:%S"
_RATE = re.compile(r"([1-9][0-9]{0,8}) (minute|minutes|hour|hours|day|days)")


@cache
def time_zones() -> frozenset[str]:
    """The names of all IANA time zones."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text().split())


def _expression(text: str) -> str:
    kind, _, rest = text.partition("(")
    inner = rest.removesuffix(")")
    problem = {"cron": _wrong_cron, "rate": _wrong_rate, "at": _wrong_time}.get(kind)
    if problem is None or rest == inner:
        raise ValueError("write `cron(0 8 ? * MON-FRI *)`, `rate(12 hours)` or `at(2026-12-24T18:00:00)`")
    if reason := problem(inner):
        raise ValueError(reason)
    return text


def _wrong_cron(inner: str) -> str:
    fields = inner.split()
    if len(fields) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        return f"a cron expression has six fields ({names}), not {len(fields)}"
    for field, text in zip(_FIELDS, fields, strict=True):
        if not field.takes(text):
            return (
                f"{text!r} is invalid for {field.name} of a cron expression"
                f": {field.minimum} to {field.maximum}, or `*`"
            )
    return "only one of the two days may be `?`" if fields[2] == fields[4] == "?" else ""


def unreachable_time(expression: str) -> str:
    """The part of a cron expression at which it never fires; empty if there is none."""
    if not expression.startswith("cron("):
        return ""
    fields = dict(zip((field.name for field in _FIELDS), _cron_fields(expression), strict=True))
    for field in _FIELDS:
        if part := field.beyond_step(fields[field.name]):
            return f"{part!r} for {field.name} has a step beyond {field.maximum}"
    days, months = (field.values(fields[field.name]) for field in (_FIELDS[2], _FIELDS[3]))
    if days and months and min(days) > max(_DAYS_OF_MONTHS[month - 1] for month in months):
        return f"no month of {fields['month']!r} has the day {min(days)}"
    return ""


def last_day(expression: str) -> date | None:
    """The last day on which an expression can fire, in its time zone; None if it has none."""
    kind, _, rest = expression.removesuffix(")").partition("(")
    if kind == "at":
        return datetime.strptime(rest, _TIME).date()
    years = _FIELDS[5].values(_cron_fields(expression)[5]) if kind == "cron" else None
    return date(max(years), 12, 31) if years and max(years) < _FIELDS[5].maximum else None


def _cron_fields(expression: str) -> list[str]:
    return expression.removeprefix("cron(").removesuffix(")").split()


def _wrong_rate(inner: str) -> str:
    return "" if _RATE.fullmatch(inner) else f"{inner!r} is not a rate: write `12 hours` or `1 day`"


def _wrong_time(inner: str) -> str:
    try:
        time = datetime.strptime(inner, _TIME)
    except ValueError:
        time = None
    # strptime takes 8:0:0 as well, which Application Auto Scaling does not.
    right = time is not None and time.strftime(_TIME) == inner
    return "" if right else f"{inner!r} is not a time: write `2026-12-24T18:00:00`"


def _time_zone(name: str) -> str:
    if name not in time_zones():
        raise ValueError(f"no IANA time zone is called {name!r}: write one such as `Europe/Berlin`")
    return name


Expression = Annotated[str, AfterValidator(_expression)]
"""When: `cron(MINUTES HOURS DAY-OF-MONTH MONTH DAY-OF-WEEK YEAR)`, `rate(12 hours)` or
`at(2026-12-24T18:00:00)`."""

TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""The name of an IANA time zone, such as `Europe/Berlin`."""
