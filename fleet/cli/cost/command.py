"""`fleet cost`: what endpoints cost at list prices, computed from files without AWS."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.arguments import Endpoints, Env, TableFormat
from fleet.cli.cost.document import cost_document
from fleet.cli.cost.lines import print_cost
from fleet.cli.output import say
from fleet.cli.selection import chosen_project
from fleet.core.project_root import project_root
from fleet.findings import CannotRunError, all_of
from fleet.printers.lines import print_json
from fleet.report.cost import fleet_cost
from fleet.spec.environment import LOCAL


def cost(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table, or JSON.")] = TableFormat.TABLE,
) -> None:
    """Show what endpoints cost per hour and month, at their minimum and maximum number of instances.

    The prices are the catalog's list prices, with their date; multi-model endpoints show what they save.
    A price that the catalog lacks is reported and does not change the exit code.
    """
    is_json = format is TableFormat.JSON
    project = chosen_project(project_root(Path.cwd()), env, endpoints, may_be_empty=is_json)
    if env == LOCAL:
        problem = f"the endpoints of {LOCAL} run on this machine, where instances cost nothing"
        raise CannotRunError(problem, "pass an environment that is deployed to an account")
    loaded = all_of(project.endpoints, project.load, project.findings)
    found = fleet_cost(project.environment, [each.spec for each in loaded])
    if is_json:
        print_json(cost_document(found))
    elif found.endpoints:
        print_cost(found)
    else:
        say(f"{env}: no specs")
