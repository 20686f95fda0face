"""`fleet cost`: what endpoints cost by list prices, from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.arguments import Endpoints, Env, TableFormat
from fleet.cli.cost.document import cost_document
from fleet.cli.cost.lines import print_cost
from fleet.cli.output import say
from fleet.core.project_root import project_root
from fleet.findings import CannotRunError, all_of
from fleet.printers.lines import print_json
from fleet.report.cost import fleet_cost
from fleet.spec.environment import LOCAL
from fleet.spec.project import open_project


def cost(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table, or JSON.")] = TableFormat.TABLE,
) -> None:
    """Tell what endpoints cost an hour and a month, at their fewest and their most instances.

    In list prices of the catalog, with their date, and what a multi-model endpoint saves. A price that the
    catalog lacks is said and changes no exit code.
    """
    project = open_project(project_root(Path.cwd()), env, endpoints or ())
    if env == LOCAL:
        problem = f"the endpoints of {LOCAL} run on this machine, where nobody pays for instances"
        raise CannotRunError(problem, "name an environment that is deployed to an account")
    loaded = all_of(project.endpoints, project.load, project.findings)
    found = fleet_cost(project.environment, [each.spec for each in loaded])
    if format is TableFormat.JSON:
        print_json(cost_document(found))
    elif found.endpoints:
        print_cost(found)
    else:
        say(f"{env}: no spec")
