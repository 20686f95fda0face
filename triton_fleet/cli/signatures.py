"""What each command takes, as `signatures.json` has it for the completion of shells."""

from __future__ import annotations

import json
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup
from typer.main import get_group

from triton_fleet.cli.commands import COMMANDS, app
from triton_fleet.cli.completion import REPEATED


def signatures() -> str:
    """The JSON of all commands; each of them is loaded."""
    group, found = get_group(app), dict[str, Any]()
    for name in COMMANDS:
        command = group.commands[name]
        if isinstance(command, TyperGroup):
            found |= {f"{name} {each}": _signature(inner) for each, inner in command.commands.items()}
        else:
            found[name] = _signature(command)
    return json.dumps(found, indent=2) + "\n"


def _signature(command: Any) -> dict[str, Any]:
    arguments, options = list[str](), dict[str, Any]()
    for parameter in command.get_params(typer.Context(command)):
        if isinstance(parameter, TyperArgument):
            arguments.append(f"{parameter.metavar}{REPEATED if parameter.nargs != 1 else ''}")
        elif parameter.type_descriptor.is_choice:
            choices = [str(choice.value) for choice in parameter.type_descriptor.choices]
            options |= dict.fromkeys(parameter.opts, choices)
        else:
            options |= dict.fromkeys(parameter.opts, parameter.metavar or "")
    return {"arguments": arguments, "options": options}
