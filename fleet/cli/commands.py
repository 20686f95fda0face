"""The subcommands of `fleet`, one file each."""

from __future__ import annotations

import typer

from fleet.cli import local
from fleet.cli.check import check
from fleet.cli.dashboard import dashboard
from fleet.cli.invoke import invoke
from fleet.cli.lock import lock
from fleet.cli.schema import schema

app = typer.Typer(
    help="NVIDIA Triton endpoints on Amazon SageMaker from reviewed YAML.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (check, dashboard, invoke, lock, schema):
    app.command()(command)
app.add_typer(local.app, name="local")
