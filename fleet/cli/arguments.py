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
    str, typer.Option("--env", help="An environment: the stem of a file in environments/.")
]
Endpoints: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ENDPOINT]...", help="Stems of files in model_specs/; all where none is named."),
]
Profile: TypeAlias = Annotated[
    str | None,
    typer.Option("--profile", help="A profile of ~/.aws/config, instead of what the AWS settings say."),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
