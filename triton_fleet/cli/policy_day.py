"""The day as of which policies are checked."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, TypeAlias

import typer

from triton_fleet.spec.policy import parse_day
from triton_fleet.spec.values import Mistake


def _today(text: str) -> date:
    try:
        return parse_day(text)
    except Mistake as error:
        raise typer.BadParameter(f"{text!r}: {error}; {error.hint}") from error


Today: TypeAlias = Annotated[
    date | None,
    typer.Option(
        "--today",
        metavar="YYYY-MM-DD",
        parser=_today,
        help="Check policies as of this day, such as a later one. Default: today in UTC.",
    ),
]


def policy_day(given: date | None = None) -> date:
    """The day that was given, else today in UTC, which is the same day everywhere."""
    return given or datetime.now(UTC).date()
