"""`fleet show`: an endpoint's effective spec, and each resulting decision with its reason."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from triton_fleet.cli.arguments import Endpoint, Env, OutputFormat
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.show.spec import Line, print_lines, spec_lines
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.explain.decision import Decision
from triton_fleet.explain.decisions import decisions
from triton_fleet.explain.effective_spec import EffectiveSpec, effective_spec
from triton_fleet.printers.console import unfolded_console
from triton_fleet.printers.excerpt import place_in
from triton_fleet.printers.lines import print_json
from triton_fleet.printers.sanitizer import visible
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.source import KeyPath

VERSION = 1
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def show(
    endpoint: Endpoint,
    env: Env,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """Show an endpoint's effective spec, with reasons.

    Each key has the file and line that it comes from, and each decision its reason.
    """
    project = current_project(env, endpoint)
    spec_file = project.load(endpoint)
    context, wrong_lock = locked_context(project, spec_file)
    spec = effective_spec(spec_file)
    rows = decisions(context, project.deployment, project.fleet.prices, wrong_lock)
    if format is OutputFormat.JSON:
        print_json(_document(endpoint, project.environment, spec, rows, project.root))
        return
    console = unfolded_console()
    environment = project.environment
    title = f"{endpoint} in {environment.environment}: account {environment.account}, {environment.region}\n"
    console.print(Text(title, "bold"), soft_wrap=True)
    print_lines(console, list(spec_lines(spec, project.root)))
    for group, members in groupby(rows, key=lambda row: row.group):
        console.print(Text(f"\n{group.capitalize()}", "bold"))
        print_lines(
            console, [_line(member, f"none: see `fleet check --env {env} {endpoint}`") for member in members]
        )


def _line(decision: Decision, note: str) -> Line:
    value = (note, "red") if decision.value is None else (visible(decision.value), "bold")
    doubt = "" if decision.certain else " (not proved)"
    facts = ", ".join(f"{fact.file} of {fact.date}" for fact in decision.facts)
    return Line(
        Text.assemble(f"  {decision.what}: ", value, (doubt, "yellow")),
        f"{decision.reason} ({facts})" if facts else decision.reason,
    )


def _document(
    endpoint: str, environment: Environment, spec: EffectiveSpec, rows: tuple[Decision, ...], root: Path
) -> dict[str, object]:
    origins = {
        _pointer(path): {
            "layer": origin.layer.value,
            "file": place_in(root, origin.file).as_posix() if origin.file else None,
            "line": origin.line,
        }
        for path, origin in spec.origins.items()
    }
    return {
        "version": VERSION,
        "endpoint": endpoint,
        "environment": environment.environment,
        "account": environment.account,
        "region": environment.region,
        "spec": spec.data,
        "origins": origins,
        "decisions": [asdict(row) for row in rows],
    }


def _pointer(path: KeyPath) -> str:
    """A JSON Pointer (RFC 6901) into `spec`."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
