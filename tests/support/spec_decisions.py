"""Decisions about the endpoint of a fleet folder."""

from __future__ import annotations

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.explain.decision import Decision
from triton_fleet.explain.decisions import decisions
from triton_fleet.project.project import open_project


def decide_spec(folder: FleetFolder, name: str = "sentences", env: str = "dev") -> tuple[Decision, ...]:
    project = open_project(folder.root, env, [name])
    spec = project.load(name)
    context, wrong = locked_context(project, spec)
    return decisions(context, project.deployment, project.fleet.prices, wrong)


def decisions_by_key(folder: FleetFolder) -> dict[str, Decision]:
    """Each decision by what it is about."""
    return {decision.what: decision for decision in decide_spec(folder)}


def on(folder: FleetFolder, instance: str, release: str = "25.04", text: str = "") -> dict[str, Decision]:
    folder.spec(text, base=SPEC.replace("ml.g5.xlarge", instance).replace("25.04", release))
    return decisions_by_key(folder)
