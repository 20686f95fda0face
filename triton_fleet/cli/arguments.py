"""Arguments that several subcommands take."""

from __future__ import annotations

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
    from triton_fleet.selection.forms import refuse_selector  # slow imports that `--help` does not need

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
        " changed:REF, or files: see docs/check.md#select-endpoints. Default: all.",
    ),
]
DEPLOYED = "Deployed endpoints, with or without a spec; globs and conditions select those with one."
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
