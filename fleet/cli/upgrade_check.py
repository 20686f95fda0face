"""`fleet upgrade-check`: which templates another version would change, before it is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.output import say
from fleet.core.project_root import project_root
from fleet.exits import INPUT_IS_WRONG
from fleet.spec.environment import LOCAL
from fleet.spec.project import environment_names
from fleet.upgrade.comparison import Change, compare
from fleet.upgrade.synthesis import THIS, install, synthesise


def upgrade_check(
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="[VERSION]", help="A version such as 0.3.0, a wheel, or a URL that pip takes."
        ),
    ] = None,
    python: Annotated[
        Path | None, typer.Option(help="A Python that has the other version, in place of VERSION.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", help="An environment; repeat for several. Default: all but local."),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            help="A resource type whose replacement is intended, such as AWS::SageMaker::EndpointConfig."
        ),
    ] = None,
) -> None:
    """Compare the templates of this version with those of another one; nothing is deployed or installed here.

    Exits with 1 where a resource would be removed, or replaced unexpectedly, or where a change is unsafe.
    """
    if (version is None) == (python is None):
        raise typer.BadParameter("give a version, or a Python that has one", param_hint="VERSION, --python")
    root = project_root(Path.cwd())
    other = python.absolute() if python else install(str(version), root / ".fleet" / "upgrade")
    unexpected = 0
    for environment in env or [name for name in environment_names(root) if name != LOCAL]:
        before, after = (synthesise(each, root, environment) for each in (THIS, other))
        changes = {
            stack: compare(before.get(stack, {}), after.get(stack, {})) for stack in sorted({*before, *after})
        }
        for line in _lines(environment, changes):
            say(line)
        unexpected += sum(change.fails(expect or ()) for found in changes.values() for change in found)
    if unexpected:
        say(
            f"{unexpected} changes would replace or remove a resource or are unsafe; "
            "where a replacement is intended: --expect TYPE"
        )
        sys.exit(INPUT_IS_WRONG)


def _lines(environment: str, changes: dict[str, list[Change]]) -> Iterator[str]:
    if not any(changes.values()):
        yield f"{environment}: no template changes ({len(changes)} stacks)"
    for stack, found in changes.items():
        if found:
            yield f"{environment}: {stack}"
        for change in found:
            differing = f" ({', '.join(change.properties)})" if change.properties else ""
            yield f"  {change.effect:<8}  {change.type} {change.logical_id}{differing}"
