"""`fleet cost`: costs of endpoints, computed from files without AWS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from triton_fleet.cli.arguments import Endpoints, Environments, TableFormat
from triton_fleet.cli.cost.document import cost_document, cost_groups, groups_document, labels_by
from triton_fleet.cli.cost.lines import print_cost, print_groups
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.context.cost import FleetCost, fleet_cost
from triton_fleet.findings import CannotRunError, all_of
from triton_fleet.printers.lines import print_json
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.environment import LOCAL


def cost(
    env: Environments,
    endpoints: Endpoints = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="KEY", help="Add up by owner, tag:NAME, profile or environment."),
    ] = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table or JSON.")] = TableFormat.TABLE,
) -> None:
    """Show what endpoints cost per hour and month.

    Costs are given for the minimum and maximum number of instances, at the prices of prices.yaml, else at the
    catalog's dated list prices. For a multi-model endpoint, the saving over one endpoint per model is shown.
    An unknown price is reported and does not change the exit code.
    """
    labels = labels_by(by) if by is not None else None
    is_table = format is TableFormat.TABLE and labels is None
    fleets = all_of(dict.fromkeys(env), lambda name: _fleet(name, endpoints, may_be_empty=not is_table))
    costs = [fleet for fleet, _ in fleets]
    if labels is not None and by is not None:
        groups = cost_groups(fleets, labels)
        if format is TableFormat.JSON:
            print_json(groups_document(by, costs, groups))
        else:
            print_groups(by, costs, groups)
    elif format is TableFormat.JSON:
        documents = [cost_document(cost) for cost in costs]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        for fleet_total in costs:
            if fleet_total.endpoints:
                print_cost(fleet_total)
            else:
                say(f"{fleet_total.environment.environment}: no specs")


def _fleet(
    env: str, endpoints: Sequence[str] | None, *, may_be_empty: bool
) -> tuple[FleetCost, list[LoadedSpec]]:
    project = chosen_project(current_fleet(), env, endpoints, may_be_empty=may_be_empty)
    if env == LOCAL:
        problem = f"the endpoints of {LOCAL} run on this machine, where instances cost nothing"
        raise CannotRunError(problem, "pass an environment that is deployed to an account")
    prices = project.fleet.prices
    specs = all_of(project.endpoints, project.load, [*project.findings, *prices.findings])
    return fleet_cost(project.environment, [loaded_spec.spec for loaded_spec in specs], prices), specs
