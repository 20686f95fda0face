"""The day by which policies are judged."""

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
        help="Judge policies by another day, to see what a later one brings. Default: today, in UTC.",
    ),
]


def policy_day(given: datetime | None = None) -> date:
    """The day that was given, else today in UTC, which is the same day everywhere."""
    return (given or datetime.now(UTC)).date()
