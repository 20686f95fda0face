"""Arguments that several subcommands take."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

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
