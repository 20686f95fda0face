"""Options and arguments of each command, as `signatures.json` has it for the completion of shells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup
from typer.main import get_group

from triton_fleet.cli.commands import COMMANDS, app
from triton_fleet.cli.completion import REPEAT_MARK, SIGNATURES
from triton_fleet.cli.output import say
from triton_fleet.core.files import is_up_to_date, replace_file
from triton_fleet.core.folders import project_root
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.rules.docs import rules_pages
from triton_fleet.rules.example import examples
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import DOCS
from triton_fleet.spec.reference.page import environment_page, policy_page, prices_page, spec_page
from triton_fleet.spec.schema import schemas


def signatures() -> str:
    """The JSON of all commands; each of them is loaded."""
    group, documents = get_group(app), dict[str, Any]()
    for name in COMMANDS:
        command = group.commands[name]
        if isinstance(command, TyperGroup):
            documents |= {
                f"{name} {subcommand}": _signature(inner) for subcommand, inner in command.commands.items()
            }
        else:
            documents[name] = _signature(command)
    return json.dumps(documents, indent=2) + "\n"


def _signature(command: Any) -> dict[str, Any]:
    arguments, options = list[str](), dict[str, Any]()
    for parameter in command.get_params(typer.Context(command)):
        if isinstance(parameter, TyperArgument):
            arguments.append(f"{parameter.metavar}{REPEAT_MARK if parameter.nargs != 1 else ''}")
        elif parameter.type_descriptor.is_choice:
            choices = [str(choice.value) for choice in parameter.type_descriptor.choices]
            options |= dict.fromkeys(parameter.opts, choices)
        else:
            options |= dict.fromkeys(parameter.opts, parameter.metavar or "")
    return {"arguments": arguments, "options": options}


def schema(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 if a file is stale.")
    ] = False,
) -> None:
    """Write the JSON Schemas and the generated docs.

    The schemas are those of specs, environments, profiles, policies and prices, for editors.
    """
    root = project_root(Path.cwd())
    stale = {file: text for file, text in generated_files(root).items() if not is_up_to_date(file, text)}
    if check and stale:
        message, hint = "this generated file does not match the code", "run `fleet schema`"
        raise FindingsError([Finding(code="FL501", message=message, hint=hint, file=file) for file in stale])
    for file, text in stale.items():
        replace_file(file, text)
        say(f"wrote {file.relative_to(root)}")


def generated_files(root: Path) -> dict[Path, str]:
    """Each generated file with its text; the pages, and what completion reads, if their folder exists."""
    docs = (root / DOCS).parent
    pages = {
        **{root / page: text for page, text in rules_pages(rules(), examples()).items()},
        docs / "spec.md": spec_page(),
        docs / "environment.md": environment_page(),
        docs / "policy.md": policy_page(),
        docs / "prices.md": prices_page(),
        **_emulator_page(root),
    }
    completion = (
        root / "triton_fleet" / "cli" / SIGNATURES.name
    )  # of this repository, never of an installed package
    return {
        **schemas(root),
        **(pages if docs.is_dir() else {}),
        **({completion: signatures()} if completion.parent.is_dir() else {}),
    }


def _emulator_page(root: Path) -> dict[Path, str]:
    """The page of the embedded AWS, in the repository that has its source: a fleet may be without it."""
    if not (root / "emulator").is_dir():
        return {}
    from fleet_emulator.fidelity import PAGE, fidelity_page

    return {root / PAGE: fidelity_page()}
