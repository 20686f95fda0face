"""Parts of an environment's Foundation, as its template declares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aws_cdk import App

from fleet_stacks.fleet_app import add_fleet
from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet
from triton_fleet.spec.deployment import Deployment


def foundation_parts(deployment: Deployment, outdir: Path, *names: str) -> dict[str, Any]:
    """The resources whose logical ids begin with one of the names."""
    app = App(outdir=str(outdir))
    add_fleet(app, ResolvedFleet(deployment=deployment, endpoints=()))
    (stack,) = app.synth().stacks
    return {id: resource for id, resource in stack.template["Resources"].items() if id.startswith(names)}
