"""`fleet diff`: what a promotion would change."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.promote.backlog import BacklogEntry, backlog
from fleet.cli.arguments import Endpoints, Env, OutputFormat
from fleet.cli.output import say
from fleet.cli.selection import chosen_project
from fleet.core.project_root import project_root
from fleet.printers.lines import print_json
from fleet.spec.project import open_project

VERSION = 1
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def diff(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """Show what has not been promoted to an environment.

    Compares an environment that has `promoted_from` with that environment and with model_specs/. Does not
    call AWS.
    """
    root = project_root(Path.cwd())
    project = open_project(root, env)
    found = backlog(project)
    if endpoints:
        known = {each.name for each in found}
        waiting = [each for each in endpoints if each in known]
        rest = [each for each in endpoints if each not in known]
        chosen = {*waiting, *(chosen_project(root, env, rest).endpoints if rest else ())}
        found = [each for each in found if each.name in chosen]
    if format is OutputFormat.JSON:
        print_json({"version": VERSION, "environment": env, "endpoints": [_record(each) for each in found]})
        return
    origin = project.environment.promoted_from
    if not found:
        say(f"{env} is up to date with main and {origin}")
    for each in found:
        for line in _lines(each, env, origin or ""):
            say(line)
    promotable = [each.name for each in found if each.promotable]
    if promotable:
        say(f"run `fleet promote --to {env} {' '.join(promotable)}` to copy what {origin} runs")


def _lines(each: BacklogEntry, env: str, origin: str) -> list[str]:
    if each.state == "new":
        return [f"{each.name}: {env} does not have it; {each.content[0]}"]
    if each.state == "removed":
        return [f"{each.name}: main no longer has it; `fleet destroy {each.name} --env {env}` removes it"]
    if each.problem:
        return [f"{each.name}: cannot be compared: {each.problem}"]
    keys = [f"  main     {change}" for change in each.spec]
    return [f"{each.name}:", *keys, *(f"  {origin:<8} {text}" for text in (*each.tested, *each.content))]


def _record(each: BacklogEntry) -> dict[str, object]:
    keys = {
        name: [{"key": change.key, "change": str(change)} for change in changes]
        for name, changes in (("spec", each.spec), ("tested", each.tested))
    }
    return {**asdict(each), **keys}
