"""How help is laid out: paragraphs fold as a whole, and a value has a name instead of its Python type."""

from __future__ import annotations

import gc
import inspect
from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from triton_fleet.cli.completion import CommandSketch
from triton_fleet.cli.output import say
from triton_fleet.core.reads import limit_garbage_collection


def lay_out(command: TyperCommand | TyperGroup) -> None:
    """Change how a command, and each command of a group, prints its help; nothing else."""
    command.help = _paragraphs(command.help or "")
    for parameter in command.get_params(typer.Context(command)):
        _name_value(parameter)
    if isinstance(command, TyperGroup) and isinstance(command.commands, dict):
        for subcommand in command.commands.values():
            lay_out(subcommand)


def _paragraphs(text: str) -> str:
    """The text with one line for each paragraph, where typer keeps the line breaks of the source.

    Typer prints all but the first dim, which is hard to read on a dark terminal.
    """
    first, *rest = (" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))
    return "\n\n".join([first, "[not dim]" + "\n\n".join(rest) + "[/not dim]"] if rest else [first])


def _name_value(parameter: Any) -> None:
    """Show choices as they are, no type for flags and arguments, and for any other option its name."""
    flag = isinstance(parameter, TyperOption) and parameter.is_flag
    if flag or isinstance(parameter, TyperArgument):
        vars(parameter)["display_type"] = lambda _: ""
    if parameter.metavar is None and not flag and not parameter.type_descriptor.is_choice:
        parameter.metavar = parameter.name.upper()


PANELS: Mapping[str, Mapping[str, str]] = {
    "First steps": {
        "init": "Write the files of a new fleet; no file is overwritten.",
        "new": "Write the spec of a new endpoint; no file is overwritten.",
        "local": "Run endpoints on this machine, with a real Triton.",
        "invoke": "Invoke an endpoint and print its answer.",
    },
    "Review and deploy": {
        "check": "Check endpoints or model repositories; nothing is changed.",
        "lock": "Record in locks/ENV/ what an environment will run.",
        "report": "Report what a change does when deployed, for its reviewers.",
        "preflight": "Check that the account is ready for a deploy.",
        "deploy": "Check, publish and deploy endpoints.",
        "promote": "Copy what one environment runs to another, for review.",
        "diff": "Show what has not been promoted to an environment.",
        "rollback": "Restore an earlier lock of an endpoint, for review.",
        "history": "List an endpoint's releases: who deployed what.",
        "destroy": "Delete the stacks of endpoints after confirmation.",
    },
    "Inspect and diagnose": {
        "ls": "Compare specs, locks and live stacks.",
        "show": "Show an endpoint's effective spec, with reasons.",
        "cost": "Show what endpoints cost per hour and month.",
        "dashboard": "Write an endpoint's dashboard as one HTML page.",
        "doctor": "Find out why an endpoint fails.",
        "drift": "Find what was changed by hand in AWS, and revert it.",
        "rules": "List the rules of `fleet check`, or explain some.",
        "docs": "Print a page of the documentation, or list all pages.",
    },
    "Archives, engines, images, models": {
        "publish": "Upload the archives that the content store lacks.",
        "engines": "Plan, build and explain TensorRT engines.",
        "images": "Plan, build and inspect your own container images.",
        "models": "List, add and remove models without a deploy (live sets).",
    },
    "Maintain the fleet": {
        "ci": "Write the workflows, pipeline and CODEOWNERS for CI.",
        "schema": "Write the JSON Schemas and the generated docs.",
        "upgrade-check": "Compare the templates of this version with those of another.",
    },
}
"""The first line of the help of each command or group, by the heading of the overview; 80 columns wide."""
PATHS = {
    "local": "local:app",
    "invoke": "invoke.command:invoke",
    "history": "history:history_command",
    "show": "show.command:show",
    "cost": "cost.command:cost",
    "engines": "engines.command:app",
    "images": "images.command:app",
    "models": "models:app",
    "ci": "ci:app",
}
"""The module and the function of a command, or the `Typer` of a group, where they are not called as it is."""


@dataclass(frozen=True)
class Subcommand:
    """A command or group of commands, as the overview lists it.

    Attributes:
        path: The module and, after a colon, the function of a command or the `Typer` of a group.
        panel: The heading under which it is listed.
        summary: The first line of its help; it fits one line of 80 columns.
    """

    path: str
    panel: str
    summary: str


COMMANDS: Mapping[str, Subcommand] = {
    name: Subcommand(
        f"triton_fleet.cli.{PATHS.get(name, f'{name}:{name}'.replace('-', '_'))}", panel, summary
    )
    for panel, summaries in PANELS.items()
    for name, summary in summaries.items()
}
"""The commands in the order of the overview."""


@cache
def _load(name: str) -> TyperCommand | TyperGroup:
    """A command or a group, as typer makes it of what its module declares."""
    module, _, attribute = COMMANDS[name].path.partition(":")
    gc.disable()
    loaded_object = getattr(import_module(module), attribute)
    limit_garbage_collection()
    holder = typer.Typer(callback=lambda: None)
    if isinstance(loaded_object, typer.Typer):
        holder.add_typer(loaded_object, name=name)
    else:
        holder.command(name)(loaded_object)
    command: TyperCommand | TyperGroup = typer.main.get_group(holder).commands[name]  # type: ignore[assignment]
    lay_out(command)
    return command


class LazyCommands(UserDict[str, Any]):
    """All names, of which a command is loaded when it is requested."""

    def __getitem__(self, name: str) -> Any:
        self.data[name]  # an unknown name is a KeyError
        return _load(name)


class FleetGroup(TyperGroup):
    """The group of all commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands(dict.fromkeys(COMMANDS))

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, none of them loaded."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command as help and completion list it; it is not loaded."""
        if (subcommand := COMMANDS.get(cmd_name)) is None:
            return None
        return TyperCommand(cmd_name, short_help=subcommand.summary, rich_help_panel=subcommand.panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name: loaded, or its sketch for a shell's completion."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is None:
            return name, None, rest
        return name, CommandSketch(args[0]) if ctx.resilient_parsing else _load(args[0]), rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the overview."""
        lay_out(self)
        super().format_help(ctx, formatter)


app = typer.Typer(
    cls=FleetGroup,
    help="NVIDIA Triton endpoints on Amazon SageMaker from reviewed YAML.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
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
