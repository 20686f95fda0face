"""`fleet destroy`: deletes the stacks of endpoints and keeps their artifacts."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from fleet.aws.access import Access
from fleet.aws.api.errors import aws_errors_as_findings
from fleet.aws.deploy.destroy import Deletion, plan_deletion
from fleet.aws.deploy.destroy import destroy as delete
from fleet.cli.arguments import DEPLOYED, Env, Profile, Yes
from fleet.cli.aws_access import connect
from fleet.cli.current_fleet import current_project
from fleet.cli.interruption import end_like_ctrl_c
from fleet.cli.output import ask_consent, say
from fleet.cli.selection import deployed_names
from fleet.endpoint.object_keys import prefix_of
from fleet.findings import FindingsError
from fleet.printers.console import OutputConsole
from fleet.printers.steps import Steps
from fleet.spec.deployment import Deployment
from fleet.spec.membership import lock_files


def destroy(
    endpoints: Annotated[
        list[str],
        typer.Argument(
            metavar="ENDPOINT",
            help=DEPLOYED,
        ),
    ],
    env: Env,
    yes: Yes = False,
    profile: Profile = None,
) -> None:
    """Delete the stacks of endpoints after confirmation.

    Archives in the bucket and the Foundation stack are kept.
    """
    end_like_ctrl_c()
    project = current_project(env)
    root, place = project.root, project.place
    names = deployed_names(project.fleet, env, endpoints)
    access = connect(project, profile)
    with aws_errors_as_findings():
        planned = {name: _plan(access, name, is_named=name in endpoints) for name in names}
        found = {name: deletion for name, deletion in planned.items() if deletion is not None}
        for name in planned:
            if name in found:
                _show(found[name], place, name)
            else:
                say(f"nothing to destroy: {name} is not deployed in {env}; {_keep_note(place, name)}")
        if not found:
            return
        if not ask_consent(f"Destroy {', '.join(found)} in {env}?", yes=yes):
            say("nothing was deleted")
            return
        steps = Steps(OutputConsole())
        for deletion in found.values():
            with steps.step(f"delete {deletion.stack.name}"):
                delete(access, deletion, steps.say)
        for name in found:
            if files := lock_files(root, env, name):
                paths = shlex.join(str(file.relative_to(root)) for file in files)
                say(f"{name} still has files in {env}: run `git rm {paths}` to remove it")


def _plan(access: Access, name: str, *, is_named: bool) -> Deletion | None:
    """What would be deleted; what a selector fits may never have been deployed."""
    try:
        return plan_deletion(access, name)
    except FindingsError:
        if is_named:
            raise
        return None


def _show(found: Deletion, place: Deployment, endpoint: str) -> None:
    say(f"{found.stack.name} in account {place.account}, {place.region} ({found.stack.status}):", "bold")
    if found.endpoint is not None:
        say(f"  the endpoint {endpoint}, which is {found.endpoint}")
    width = max((len(kind) for kind, _ in found.resources), default=0)
    for kind, name in found.resources:
        say(f"  deleted: {kind:{width}}  {name}")
    say(f"  kept: {_keep_note(place, endpoint)}")


def _keep_note(place: Deployment, endpoint: str) -> str:
    return f"its archives stay in s3://{place.bucket}/{prefix_of(endpoint)}"
