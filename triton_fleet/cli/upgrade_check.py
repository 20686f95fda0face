"""`fleet upgrade-check`: which templates another version would change, before it is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.changes.templates import Change, compare
from triton_fleet.cli.output import say
from triton_fleet.core.files import private_folder
from triton_fleet.core.folders import project_root
from triton_fleet.exits import INPUT_IS_WRONG
from triton_fleet.product.synthesis import (
    OWN_PYTHON,
    install_wheel,
    installation,
    require_distinct,
    settings,
    synthesise,
    upgraded_context,
)
from triton_fleet.project.fleet_files import environment_names
from triton_fleet.spec.environment import LOCAL


def upgrade_check(
    wheel: Annotated[
        Path | None,
        typer.Argument(metavar="WHEEL", help="The wheel of the other version."),
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option(help="The Python of an environment that has the other version, instead of WHEEL."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", help="Environment name; repeatable. Default: all except local."),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE",
            help="A resource type that may be replaced, such as AWS::SageMaker::EndpointConfig; repeatable.",
        ),
    ] = None,
) -> None:
    """Compare the templates of this version with those of another.

    Deploys nothing, and installs the other version in a separate folder. Exit code 1: a resource would be
    removed or unexpectedly replaced, or a change is unsafe.
    """
    root = project_root(Path.cwd())
    if wheel is not None and python is None:
        python = install_wheel(private_folder(root) / "upgrade", wheel)
    elif python is None or wheel is not None:
        raise typer.BadParameter(
            "pass a wheel, or a Python that has another version", param_hint="WHEEL, --python"
        )
    own_installation, other_installation = installation(OWN_PYTHON), installation(python.absolute())
    require_distinct(own_installation, other_installation)
    say(f"{own_installation} compared with {other_installation}")
    context = settings(root)
    sides = (
        (own_installation, context),
        (other_installation, upgraded_context(context, own_installation, other_installation)),
    )
    failures = 0
    for environment in env or [name for name in environment_names(root) if name != LOCAL]:
        before, after = (synthesise(side, root, environment, values) for side, values in sides)
        changes = {
            stack: compare(before.get(stack, {}), after.get(stack, {})) for stack in sorted({*before, *after})
        }
        for line in _lines(environment, changes):
            say(line)
        failures += sum(
            change.fails(expect or ()) for stack_changes in changes.values() for change in stack_changes
        )
    if failures:
        say(
            f"{failures} changes would replace or remove a resource or are unsafe; "
            "where a replacement is intended: --expect TYPE"
        )
        sys.exit(INPUT_IS_WRONG)


def _lines(environment: str, changes: dict[str, list[Change]]) -> Iterator[str]:
    if not any(changes.values()):
        yield f"{environment}: no template changes ({len(changes)} stacks)"
    for stack, stack_changes in changes.items():
        if stack_changes:
            yield f"{environment}: {stack}"
        for change in stack_changes:
            properties = f" ({', '.join(change.properties)})" if change.properties else ""
            yield f"  {change.effect:<8}  {change.type} {change.logical_id}{properties}"
