"""`fleet drift`: what was changed by hand in an account, and the command that reverts it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.stack_drift import StackDrift, restore_stack, stack_drifts
from triton_fleet.aws.running_configuration import endpoint_stacks, unknown_stack
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.stack import LiveStack, find_stack
from triton_fleet.cli.arguments import DEPLOYED_HELP, Env, Profile, Yes
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.deploy import ATTEMPTS
from triton_fleet.cli.output import ask_consent, say
from triton_fleet.cli.selection import deployed_names
from triton_fleet.exits import INPUT_IS_WRONG
from triton_fleet.findings import CannotRunError, Failure, Finding, one_failure
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.printers.lines import print_error
from triton_fleet.spec.deployment import Deployment

CODE = "FL605"


def drift(
    env: Env,
    endpoints: Annotated[
        list[str] | None, typer.Argument(metavar="ENDPOINT", help=f"{DEPLOYED_HELP} Default: all.")
    ] = None,
    foundation: Annotated[
        bool, typer.Option("--foundation", help="Compare only what endpoints share.")
    ] = False,
    revert: Annotated[
        bool, typer.Option("--revert", help="After you confirm, bring back what the stacks declare.")
    ] = False,
    format: Annotated[Format, typer.Option("--format", help="How to print what differs.")] = Format.HUMAN,
    yes: Yes = False,
    profile: Profile = None,
) -> None:
    """Find what was changed by hand in AWS, and revert it.

    Deployed stacks are compared with what runs; specs are not read, unless you select by a condition. Without
    endpoints, all that are deployed are compared, and what they share. Numbers of instances within the limits
    of scaling are not drift, and a stack that is being updated is left out. Exit code 0: no drift; 1: drift;
    2: it could not run, or not for every stack.
    """
    if foundation and endpoints:
        raise typer.BadParameter("cannot be combined with endpoints", param_hint="--foundation")
    project = current_project(env)
    root, place = project.root, project.deployment
    selection = deployed_names(project.fleet, env, endpoints) if endpoints else None
    access = connect(project, profile, attempts=ATTEMPTS)
    console = OutputConsole(stderr=True)
    with console.status(f"comparing {env}") if console.is_terminal else nullcontext():
        with aws_errors_as_findings():
            live = endpoint_stacks(access.client("cloudformation"), place)
            foundation_stack = None if endpoints else find_stack(access.client("cloudformation"), place.stack)
        names = sorted(live) if selection is None else selection
        drifts = stack_drifts(
            access, _stacks(place, [] if foundation else names, live, foundation_stack, endpoints)
        )
    stacks = [stack for stack in drifts if stack.comparisons]
    if stacks or format is not Format.HUMAN:
        print_findings([finding for stack in stacks for finding in _findings(stack, env)], format, root)
    for stack in drifts:
        if stack.busy:
            print_error(f"{stack.title} is not compared: {stack.busy}")
    differs = bool(stacks)
    reverts = revert and differs and _confirm(stacks, env, yes=yes)
    problems: list[Failure] = [
        stack.problem for stack in drifts if stack.problem is not None and not (reverts and stack.comparisons)
    ]
    if reverts:
        failures, differs = _revert(access, stacks, env, say if format is Format.HUMAN else print_error)
        problems += failures
    elif not stacks and format is Format.HUMAN:
        titles = [stack.title for stack in drifts if not stack.busy and stack.problem is None]
        say(f"{env}: no drift in {', '.join(titles) or 'what is deployed, which is nothing'}")
    if problems and not (differs and not revert):
        raise one_failure(problems)
    for problem in problems:
        print_error(f"not compared: {problem}")
    if differs:
        sys.exit(INPUT_IS_WRONG)


def _stacks(
    deployment: Deployment,
    names: Sequence[str],
    live: dict[str, LiveStack],
    foundation: LiveStack | None,
    arguments: Sequence[str] | None,
) -> list[tuple[str | None, LiveStack]]:
    """The stacks to compare; one that is asked for by its name has to exist."""
    for name in arguments or ():
        if name in names and name not in live:
            raise unknown_stack(deployment, name, live)
    stacks: list[tuple[str | None, LiveStack]] = [(name, live[name]) for name in names if name in live]
    return [*([(None, foundation)] if foundation else []), *stacks]


def _findings(stack: StackDrift, env: str) -> list[Finding]:
    """One for each property; the hint is the command that reverts all of a stack."""
    return [
        Finding(
            code=CODE,
            message=f"{stack.title}: {difference} ({comparison.subject})",
            hint=_remedy(stack, env),
            endpoints=(stack.endpoint,) if stack.endpoint else (),
        )
        for comparison in stack.comparisons
        for difference in comparison.differences
    ]


def _remedy(stack: StackDrift, env: str) -> str:
    option = f"--env {env}"
    if stack.endpoint is None:
        return f"`fleet drift {option} --foundation --revert` reverts it"
    name = shlex.quote(stack.endpoint)
    if stack.is_restorable:
        return f"`fleet drift {option} {name} --revert` reverts it"
    return f"`fleet destroy {option} {name}`, then `fleet deploy {option} {name}` makes it again"


def _confirm(stacks: Sequence[StackDrift], env: str, *, yes: bool) -> bool:
    """Whether to revert; nobody is asked if nothing can be.

    Raises:
        CannotRunError: nobody can be asked.
    """
    able = [stack.title for stack in stacks if stack.is_restorable]
    if not able or ask_consent(f"Revert {', '.join(able)} in {env}?", yes=yes):
        return True
    print_error("nothing was reverted")
    return False


def _revert(
    access: Access, stacks: Sequence[StackDrift], env: str, tell: Callable[[str], None]
) -> tuple[list[Failure], bool]:
    """Revert stacks one after the other; one that fails leaves out no other.

    Returns:
        What AWS refused, or only a new stack reverts; and whether a stack that was reverted still differs.
    """
    failures: list[Failure] = []
    differs = False
    for stack in stacks:
        try:
            if not stack.is_restorable:
                raise CannotRunError(f"{stack.title} cannot be reverted", _remedy(stack, env))
            after = restore_stack(access, stack)
        except CannotRunError as error:
            failures.append(error)
            continue
        if after.problem:
            failures.append(after.problem)
        differs = differs or bool(after.comparisons)
        tell(f"{stack.title}: {_outcome(after, env)}")
    return failures, differs


def _outcome(after: StackDrift, env: str) -> str:
    if after.busy:
        return f"being reverted, {after.busy}; run the command again when that is over"
    if after.comparisons:
        differences = ", ".join(
            f"{difference} ({subject})" for subject, difference in sorted(after.change_texts)
        )
        return f"reverted, except {differences}; {_remedy(after, env)}"
    return "reverted, but not compared completely afterwards" if after.problem else "reverted"
