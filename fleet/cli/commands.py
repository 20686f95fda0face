"""The subcommands of `fleet`, one file each; only the one that is run is loaded."""

from __future__ import annotations

import gc
from collections import UserDict
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from fleet.cli.output import say

COMMANDS: Mapping[str, str] = {
    "check": "fleet.cli.check:check",
    "cost": "fleet.cli.cost.command:cost",
    "dashboard": "fleet.cli.dashboard:dashboard",
    "deploy": "fleet.cli.deploy:deploy",
    "destroy": "fleet.cli.destroy:destroy",
    "diff": "fleet.cli.diff:diff",
    "doctor": "fleet.cli.doctor:doctor",
    "drift": "fleet.cli.drift:drift",
    "init": "fleet.cli.init:init",
    "invoke": "fleet.cli.invoke.command:invoke",
    "lock": "fleet.cli.lock:lock",
    "ls": "fleet.cli.ls:ls",
    "new": "fleet.cli.new:new",
    "preflight": "fleet.cli.preflight:preflight",
    "promote": "fleet.cli.promote:promote",
    "publish": "fleet.cli.publish:publish",
    "report": "fleet.cli.report:report",
    "rollback": "fleet.cli.rollback:rollback",
    "rules": "fleet.cli.rules:rules",
    "schema": "fleet.cli.schema:schema",
    "show": "fleet.cli.show.command:show",
    "upgrade-check": "fleet.cli.upgrade_check:upgrade_check",
}
"""Each command with its module and function."""
GROUPS: Mapping[str, str] = {
    "ci": "fleet.cli.ci:app",
    "engines": "fleet.cli.engines.command:app",
    "images": "fleet.cli.images.command:app",
    "local": "fleet.cli.local:app",
    "models": "fleet.cli.models:app",
}
"""Each group of commands with its module and typer's object."""


@cache
def _loaded(name: str) -> TyperCommand | TyperGroup:
    """A command or a group, as typer makes it of what its module declares."""
    module, _, attribute = (COMMANDS.get(name) or GROUPS[name]).partition(":")
    gc.disable()
    declared = getattr(import_module(module), attribute)
    gc.freeze()  # none of it becomes garbage
    gc.enable()
    holder = typer.Typer(callback=lambda: None)
    if name in COMMANDS:
        holder.command(name)(declared)
    else:
        holder.add_typer(declared, name=name)
    return typer.main.get_group(holder).commands[name]  # type: ignore[return-value]


class LazyCommands(UserDict[str, Any]):
    """All names, of which a command is loaded when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        self.data[name]  # an unknown name is a KeyError
        return _loaded(name)


class FleetGroup(TyperGroup):
    """The group of all commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands(dict.fromkeys([*COMMANDS, *GROUPS]))

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, none of them loaded."""
        return list(self.commands)


app = typer.Typer(
    cls=FleetGroup,
    help="NVIDIA Triton endpoints on Amazon SageMaker from reviewed YAML.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


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
