"""`fleet destroy`: deletes the stacks of endpoints and keeps their artifacts."""

from __future__ import annotations

import os
import shlex
from typing import Annotated
from uuid import uuid4

import typer

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.destroy import Deletion, plan_deletion
from triton_fleet.aws.deploy.destroy import destroy as delete
from triton_fleet.aws.deploy.stack_lease import StackLeases, StackTerms
from triton_fleet.aws.running_configuration import LiveEndpoint
from triton_fleet.awsapi.actor import actor
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import DEPLOYED_HELP, Env, Profile, Yes
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import ask_consent, ask_name, end_like_ctrl_c, say
from triton_fleet.cli.selection import deployed_names
from triton_fleet.context.cost import Cost
from triton_fleet.endpoint.bucket_keys import prefix_of
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.steps import Steps
from triton_fleet.project.membership import lock_files
from triton_fleet.project.project import Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import deploy_command


def destroy(
    endpoints: Annotated[
        list[str],
        typer.Argument(
            metavar="ENDPOINT",
            help=DEPLOYED_HELP,
        ),
    ],
    env: Env,
    yes: Yes = False,
    confirm: Annotated[
        str | None,
        typer.Option(
            "--confirm",
            metavar="NAME",
            help="Do not ask: the endpoint's name, or the environment's if several are deleted.",
        ),
    ] = None,
    profile: Profile = None,
) -> None:
    """Delete the stacks of endpoints after confirmation.

    Archives in the bucket and the Foundation stack are kept. In a promoted environment, you type the name of
    the endpoint, or that of the environment if several are deleted; `--yes` is not enough there.
    """
    end_like_ctrl_c()
    project = current_project(env)
    root, deployment = project.root, project.deployment
    names = deployed_names(project.fleet, env, endpoints)
    access = connect(project, profile)
    steps = Steps(OutputConsole())
    with aws_errors_as_findings():
        leases = None if project.environment.is_local else _leases(access, steps)
        plans = {name: _plan(access, name, is_named=name in endpoints) for name in names}
        deletions = {name: deletion for name, deletion in plans.items() if deletion is not None}
        for name in plans:
            if name in deletions:
                _show(deletions[name], project, name)
            else:
                say(f"nothing to destroy: {name} is not deployed in {env}; {_keep_note(deployment, name)}")
        if not deletions:
            return
        if protections := [
            _protection(project, name) for name in deletions if deletions[name].stack.is_protected
        ]:
            raise FindingsError(protections)
        if not _is_confirmed(project, list(deletions), yes=yes, confirm=confirm):
            say("nothing was deleted")
            return
        try:
            for deletion in deletions.values():
                with steps.step(f"delete {deletion.stack.name}"):
                    delete(access, deletion, steps.say, leases)
        finally:
            if leases is not None:
                leases.end()
        for name in deletions:
            if files := lock_files(root, env, name):
                paths = shlex.join(str(file.relative_to(root)) for file in files)
                say(f"{name} still has files in {env}: run `git rm {paths}` to remove it")


def _leases(access: Access, steps: Steps) -> StackLeases:
    terms = StackTerms(holder=str(actor(access.check_account(), os.environ)), token=uuid4().hex)
    leases = StackLeases(access, terms, steps.say)
    leases.begin()
    return leases


def _plan(access: Access, name: str, *, is_named: bool) -> Deletion | None:
    """The stacks to delete; what a selector fits may never have been deployed."""
    try:
        return plan_deletion(access, name)
    except FindingsError:
        if is_named:
            raise
        return None


def _is_confirmed(project: Project, names: list[str], *, yes: bool, confirm: str | None) -> bool:
    """Whether the user agrees: in a promoted environment by typing a name.

    Raises:
        FindingsError: `--confirm` has another name, or `--yes` is all that a promoted environment gets.
        CannotRunError: nobody can be asked.
    """
    environment = project.environment
    required_name = names[0] if len(names) == 1 else environment.environment
    remedy = f"pass --confirm {shlex.quote(required_name)}"
    if confirm is not None and confirm != required_name:
        message = f"--confirm {confirm}: {', '.join(names)} would be destroyed in {environment.environment}"
        raise FindingsError([Finding(code="FL533", message=message, hint=remedy)])
    if confirm is not None:
        return True
    if not project.is_promoted:
        return ask_consent(f"Destroy {', '.join(names)} in {environment.environment}?", yes=yes)
    if yes:
        message = f"`--yes` does not confirm a deletion in {environment.environment}, which is promoted"
        hint = f"{remedy}: there, a deletion names what it deletes"
        raise FindingsError([Finding(code="FL533", message=message, hint=hint)])
    return (
        ask_name(f"Type {required_name} to destroy {', '.join(names)} in {environment.environment}", remedy)
        == required_name
    )


def _protection(project: Project, endpoint: str) -> Finding:
    """That a stack cannot be deleted, and what switches the protection off."""
    environment, stack = project.environment, stack_of(project.deployment, endpoint)
    remedy = f"run {deploy_command(environment.environment, endpoint)}"
    if environment.termination_protection:
        remedy = f"remove `termination_protection` from {environment.file}, and {remedy}"
    if endpoint not in project.spec_files:
        command = "aws cloudformation update-termination-protection --no-enable-termination-protection"
        remedy = f"run `{command} --stack-name {stack}`"
    message = f"{stack} is protected against deletion: nothing was deleted"
    return Finding(code="FL534", message=message, hint=f"{remedy}; then destroy it")


def _show(deletion: Deletion, project: Project, endpoint: str) -> None:
    deployment = project.deployment
    say(
        f"{deletion.stack.name} in account {deployment.account}, {deployment.region}"
        f" ({deletion.stack.status}):",
        "bold",
    )
    if deletion.endpoint is not None:
        say(f"  the endpoint {endpoint}, which is {deletion.endpoint}")
        calls = "unknown: CloudWatch cannot be read" if deletion.calls is None else f"{deletion.calls:,}"
        say(f"  calls in the last hour: {calls}")
        if not project.environment.is_local:
            say(f"  cost a month: {_cost(project, deletion.endpoint)}")
    if deletion.types:
        say(f"  deleted: {deletion.resources}")
    say(f"  kept: {_keep_note(deployment, endpoint)}")


def _cost(project: Project, live: LiveEndpoint) -> str:
    """The costs of the instances that run, a month."""
    prices, region = project.fleet.prices, project.deployment.region
    price = prices.price(live.instance_type, region)
    if price is None:
        return f"unknown: {prices.absence(live.instance_type, region)[0]}"
    cost = Cost(per_hour=live.instances * price.per_hour)
    return f"{price.sign}{cost.per_month:,} {prices.currency}"


def _keep_note(deployment: Deployment, endpoint: str) -> str:
    return f"its archives stay in s3://{deployment.bucket}/{prefix_of(endpoint)}"
