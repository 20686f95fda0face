"""The `fleet` command: its subcommands, and how every mistake leaves it."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.text import Text

from fleet.cli import local
from fleet.cli.check import check
from fleet.cli.invoke import invoke
from fleet.cli.lock import lock
from fleet.cli.schema import schema
from fleet.findings import CannotRunError, FindingsError
from fleet.show_findings import show_findings

INPUT_IS_WRONG, COULD_NOT_RUN = 1, 2

app = typer.Typer(
    help="NVIDIA Triton endpoints on Amazon SageMaker from reviewed YAML.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (check, invoke, lock, schema):
    app.command()(command)
app.add_typer(local.app, name="local")


def run() -> None:
    """Run the command; exit with 0 when clean, 1 when the input is wrong, 2 when it could not run.

    An interruption exits with 130, which Typer sees to.
    """
    errors = Console(stderr=True, highlight=False)
    try:
        app()
    except FindingsError as error:
        show_findings(errors, error.findings)
        sys.exit(INPUT_IS_WRONG)
    except CannotRunError as error:
        errors.print(Text.assemble(("cannot run", "red bold"), f": {error.problem}"), soft_wrap=True)
        if error.remedy:
            errors.print(Text(f"  remedy: {error.remedy}"), soft_wrap=True)
        sys.exit(COULD_NOT_RUN)
