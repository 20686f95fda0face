"""The subcommands of `fleet`, one file each."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from fleet.cli import ci, local, models
from fleet.cli.check import check
from fleet.cli.cost.command import cost
from fleet.cli.dashboard import dashboard
from fleet.cli.deploy import deploy
from fleet.cli.destroy import destroy
from fleet.cli.doctor import doctor
from fleet.cli.engines import command as engines
from fleet.cli.images import command as images
from fleet.cli.init import init
from fleet.cli.invoke.command import invoke
from fleet.cli.lock import lock
from fleet.cli.ls import ls
from fleet.cli.new import new
from fleet.cli.output import say
from fleet.cli.preflight import preflight
from fleet.cli.promote import promote
from fleet.cli.publish import publish
from fleet.cli.rules import rules
from fleet.cli.schema import schema
from fleet.cli.show.command import show
from fleet.cli.upgrade_check import upgrade_check

app = typer.Typer(
    help="NVIDIA Triton endpoints on Amazon SageMaker from reviewed YAML.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (
    check,
    cost,
    dashboard,
    deploy,
    destroy,
    doctor,
    init,
    invoke,
    lock,
    ls,
    new,
    preflight,
    promote,
    publish,
    rules,
    schema,
    show,
    upgrade_check,
):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"fleet {installed_version('triton-fleet')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


app.add_typer(ci.app, name="ci")
app.add_typer(engines.app, name="engines")
app.add_typer(images.app, name="images")
app.add_typer(local.app, name="local")
app.add_typer(models.app, name="models")
