"""`fleet ls`: each endpoint's files and what the account has of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fleet.aws.api.errors import aws_errors_as_findings
from fleet.aws.inventory import InventoryEntry, Runs, take_inventory
from fleet.cli.arguments import Endpoints, Env, Profile, TableFormat
from fleet.cli.aws_access import connect
from fleet.cli.output import say
from fleet.cli.selection import chosen_project
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.printers.console import OutputConsole
from fleet.printers.lines import print_json


def ls(
    env: Env,
    endpoints: Endpoints = None,
    profile: Profile = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table, or JSON.")] = TableFormat.TABLE,
) -> None:
    """Compare specs, locks and live stacks; list what has no counterpart, with the command that fixes it."""
    root = project_root(Path.cwd())
    project = chosen_project(root, env, endpoints, may_be_empty=format is TableFormat.JSON)
    access = connect(root, place_of(project.environment), profile)
    with aws_errors_as_findings():
        listed = take_inventory(project, access)
    found = [each for each in listed if not endpoints or each.name in project.endpoints]
    if format is TableFormat.JSON:
        print_json([asdict(each) for each in found])
        return
    if not found:
        say(f"{env}: no specs, no locks, no stacks")
        return
    OutputConsole().print(_table(found))
    for each in found:
        if each.remedy:
            say(f"{each.name}: {each.remedy}")


def _table(found: list[InventoryEntry]) -> Table:
    has_owners = any(each.owner for each in found)
    table = Table(box=None, pad_edge=False)
    for heading in (
        "endpoint",
        *(["owner"] if has_owners else []),
        "spec",
        "lock",
        "stack",
        "runs",
        "endpoint is",
    ):
        table.add_column(heading, overflow="fold")
    for each in found:
        problem = each.runs is not Runs.LOCKED and each.runs is not Runs.LIVE_SET
        table.add_row(
            Text(each.name, "bold"),
            *([each.owner or "-"] if has_owners else []),
            each.spec,
            each.lock,
            each.stack or "-",
            Text(each.runs, "yellow" if problem else ""),
            str(each.live) if each.live else "-",
        )
    return table
