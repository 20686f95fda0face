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
from triton_fleet.aws.fleet_stacks import endpoint_stacks, unknown_stack
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.stack import LiveStack, find_stack
from triton_fleet.cli.arguments import DEPLOYED, Env, Profile, Yes
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
        list[str] | None, typer.Argument(metavar="ENDPOINT", help=f"{DEPLOYED} Default: all.")
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
    root, deployment = project.root, project.deployment
    named = deployed_names(project.fleet, env, endpoints) if endpoints else None
    access = connect(project, profile, attempts=ATTEMPTS)
    console = OutputConsole(stderr=True)
    with console.status(f"comparing {env}") if console.is_terminal else nullcontext():
        with aws_errors_as_findings():
            live = endpoint_stacks(access.client("cloudformation"), deployment)
            shared = None if endpoints else find_stack(access.client("cloudformation"), deployment.stack)
        names = sorted(live) if named is None else named
        found = stack_drifts(
            access, _stacks(deployment, [] if foundation else names, live, shared, endpoints)
        )
    drifted = [each for each in found if each.found]
    if drifted or format is not Format.HUMAN:
        print_findings([finding for each in drifted for finding in _findings(each, env)], format, root)
    for each in found:
        if each.busy:
            print_error(f"{each.title} is not compared: {each.busy}")
    differs = bool(drifted)
    reverts = revert and differs and _agreed(drifted, env, yes=yes)
    problems: list[Failure] = [
        each.problem for each in found if each.problem is not None and not (reverts and each.found)
    ]
    if reverts:
        failures, differs = _revert(access, drifted, env, say if format is Format.HUMAN else print_error)
        problems += failures
    elif not drifted and format is Format.HUMAN:
        compared = [each.title for each in found if not each.busy and each.problem is None]
        say(f"{env}: no drift in {', '.join(compared) or 'what is deployed, which is nothing'}")
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
    shared: LiveStack | None,
    asked: Sequence[str] | None,
) -> list[tuple[str | None, LiveStack]]:
    """The stacks to compare; one that is asked for by its name has to exist."""
    for name in asked or ():
        if name in names and name not in live:
            raise unknown_stack(deployment, name, live)
    stacks: list[tuple[str | None, LiveStack]] = [(name, live[name]) for name in names if name in live]
    return [*([(None, shared)] if shared else []), *stacks]


def _findings(each: StackDrift, env: str) -> list[Finding]:
    """One for each property; the hint is the command that reverts all of a stack."""
    return [
        Finding(
            code=CODE,
            message=f"{each.title}: {difference} ({comparison.subject})",
            hint=_remedy(each, env),
            endpoints=(each.endpoint,) if each.endpoint else (),
        )
        for comparison in each.found
        for difference in comparison.differences
    ]


def _remedy(each: StackDrift, env: str) -> str:
    where = f"--env {env}"
    if each.endpoint is None:
        return f"`fleet drift {where} --foundation --revert` reverts it"
    name = shlex.quote(each.endpoint)
    if each.is_restorable:
        return f"`fleet drift {where} {name} --revert` reverts it"
    return f"`fleet destroy {where} {name}`, then `fleet deploy {where} {name}` makes it again"


def _agreed(drifted: Sequence[StackDrift], env: str, *, yes: bool) -> bool:
    """Whether to revert; nobody is asked if nothing can be.

    Raises:
        CannotRunError: nobody can be asked.
    """
    able = [each.title for each in drifted if each.is_restorable]
    if not able or ask_consent(f"Revert {', '.join(able)} in {env}?", yes=yes):
        return True
    print_error("nothing was reverted")
    return False


def _revert(
    access: Access, drifted: Sequence[StackDrift], env: str, tell: Callable[[str], None]
) -> tuple[list[Failure], bool]:
    """Revert stacks one after the other; one that fails leaves out no other.

    Returns:
        What AWS refused, or only a new stack reverts; and whether a stack that was reverted still differs.
    """
    failures: list[Failure] = []
    differs = False
    for each in drifted:
        try:
            if not each.is_restorable:
                raise CannotRunError(f"{each.title} cannot be reverted", _remedy(each, env))
            after = restore_stack(access, each)
        except CannotRunError as error:
            failures.append(error)
            continue
        if after.problem:
            failures.append(after.problem)
        differs = differs or bool(after.found)
        tell(f"{each.title}: {_outcome(after, env)}")
    return failures, differs


def _outcome(after: StackDrift, env: str) -> str:
    if after.busy:
        return f"being reverted, {after.busy}; run the command again when that is over"
    if after.found:
        left = ", ".join(f"{difference} ({subject})" for subject, difference in sorted(after.shown))
        return f"reverted, except {left}; {_remedy(after, env)}"
    return "reverted, but not compared completely afterwards" if after.problem else "reverted"
