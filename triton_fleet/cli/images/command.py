"""`fleet images`: your own container images."""

from __future__ import annotations

import typer

from triton_fleet.cli.images.builds import build, ls
from triton_fleet.cli.images.inspect import inspect
from triton_fleet.cli.images.plan import explain, plan

app = typer.Typer(help="Plan, build and inspect your own container images.", no_args_is_help=True)

for command in (build, explain, inspect, ls, plan):
    app.command()(command)
