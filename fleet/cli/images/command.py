"""`fleet images`: container images of one's own."""

from __future__ import annotations

import typer

from fleet.cli.images.inspect import inspect

app = typer.Typer(help="Container images of your own, in Amazon ECR.", no_args_is_help=True)


@app.callback()
def _several_commands() -> None:
    pass


app.command()(inspect)
