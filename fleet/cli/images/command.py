"""`fleet images`: container images of one's own."""

from __future__ import annotations

import typer

from fleet.cli.images.builds import build, ls
from fleet.cli.images.inspect import inspect
from fleet.cli.images.plan import explain, plan

app = typer.Typer(help="Container images of your own, in Amazon ECR.", no_args_is_help=True)

for command in (build, explain, inspect, ls, plan):
    app.command()(command)
