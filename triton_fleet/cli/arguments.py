"""Arguments that several subcommands take."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, TypeAlias

import typer


class OutputFormat(StrEnum):
    """How a text is printed."""

    HUMAN = "human"
    JSON = "json"


class TableFormat(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    JSON = "json"


Env: TypeAlias = Annotated[
    str,
    typer.Option("--env", help="Environment name (a file in environments/ without .yaml)."),
]
Environments: TypeAlias = Annotated[
    list[str],
    typer.Option("--env", help="Environment name; repeatable."),
]


def require_one_name(context: typer.Context, endpoint: str) -> str:
    """The argument of a command that takes one endpoint.

    Raises:
        FindingsError: it is a selector, which may fit several.
    """
    from triton_fleet.selection.condition import refuse_selector  # slow imports that `--help` does not need

    if endpoint and not context.resilient_parsing:  # what a shell completes may be anything
        refuse_selector(endpoint)
    return endpoint


Endpoint: TypeAlias = Annotated[
    str,
    typer.Argument(help="Endpoint name (a file in model_specs/ without .yaml).", callback=require_one_name),
]
Endpoints: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ENDPOINT",
        help="Endpoint names (files in model_specs/ without .yaml), globs, conditions such as owner=search,"
        " changed:REF, or files: see `fleet docs check`. Default: all.",
    ),
]
DEPLOYED_HELP = "Deployed endpoints, with or without a spec; globs and conditions select those with one."
"""The help of arguments that are looked for in an account."""
Profile: TypeAlias = Annotated[
    str | None,
    typer.Option("--profile", help="A profile in ~/.aws/config. Default: your AWS settings."),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Concurrency: TypeAlias = Annotated[
    int,
    typer.Option("--concurrency", min=1, metavar="N", help="How many endpoints to deploy at a time."),
]
FailFast: TypeAlias = Annotated[
    bool,
    typer.Option("--fail-fast", help="After a failure, start no other endpoint; finish those in progress."),
]


def _today(text: str) -> date:
    from triton_fleet.spec.policy import parse_day
    from triton_fleet.spec.values import Mistake

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


def policy_day(day: date | None = None) -> date:
    """The given day, else today in UTC, which is the same day everywhere."""
    return day or datetime.now(UTC).date()
