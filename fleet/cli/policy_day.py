"""The day as of which policies are checked."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, TypeAlias

import typer

Today: TypeAlias = Annotated[
    datetime | None,
    typer.Option(
        "--today",
        metavar="YYYY-MM-DD",
        formats=["%Y-%m-%d"],
        help="Check policies as of this day, such as a later one. Default: today in UTC.",
    ),
]


def policy_day(given: datetime | None = None) -> date:
    """The day that was given, else today in UTC, which is the same day everywhere."""
    return (given or datetime.now(UTC)).date()
