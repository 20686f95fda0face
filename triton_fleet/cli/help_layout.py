"""How help is laid out: paragraphs fold as a whole, and a value has a name instead of its Python type."""

from __future__ import annotations

import inspect
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption


def lay_out(command: TyperCommand | TyperGroup) -> None:
    """Change how a command, and each command of a group, prints its help; nothing else."""
    command.help = _paragraphs(command.help or "")
    for parameter in command.get_params(typer.Context(command)):
        _name_value(parameter)
    if isinstance(command, TyperGroup) and isinstance(command.commands, dict):
        for each in command.commands.values():
            lay_out(each)


def _paragraphs(text: str) -> str:
    """The text with one line for each paragraph, where typer keeps the line breaks of the source.

    Typer prints all but the first dim, which is hard to read on a dark terminal.
    """
    first, *others = (" ".join(each.split()) for each in inspect.cleandoc(text).split("\n\n"))
    return "\n\n".join([first, "[not dim]" + "\n\n".join(others) + "[/not dim]"] if others else [first])


def _name_value(parameter: Any) -> None:
    """Show choices as they are, no type for flags and arguments, and for any other option its name."""
    flag = isinstance(parameter, TyperOption) and parameter.is_flag
    if flag or isinstance(parameter, TyperArgument):
        vars(parameter)["display_type"] = lambda _: ""
    if parameter.metavar is None and not flag and not parameter.type_descriptor.is_choice:
        parameter.metavar = parameter.name.upper()
