"""`fleet destroy`: deletes an endpoint's stack and keeps its artifacts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.aws.api.errors import aws_errors_as_findings
from fleet.aws.deploy.destroy import Deletion, plan_deletion
from fleet.aws.deploy.destroy import destroy as delete
from fleet.cli.arguments import Env, Profile, Yes
from fleet.cli.aws_access import connect
from fleet.cli.interruption import end_like_ctrl_c
from fleet.cli.output import ask_consent, say
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.endpoint.resolved_endpoint import Deployment, prefix_of
from fleet.printers.console import OutputConsole
from fleet.printers.steps import Steps
from fleet.spec.project import open_project


def destroy(
    endpoint: Annotated[str, typer.Argument(help="A deployed endpoint, with or without a spec.")],
    env: Env,
    yes: Yes = False,
    profile: Profile = None,
) -> None:
    """Show what would be deleted, ask, and delete the endpoint's stack; its archives and Foundation stay."""
    end_like_ctrl_c()
    root = project_root(Path.cwd())
    place = place_of(open_project(root, env).environment)
    access = connect(root, place, profile)
    with aws_errors_as_findings():
        found = plan_deletion(access, endpoint)
        if found is None:
            say(f"nothing to destroy: {endpoint} is not deployed in {env}; {_keep_note(place, endpoint)}")
            return
        _show(found, place, endpoint)
        if not ask_consent(f"Destroy {endpoint} in {env}?", yes=yes):
            say("nothing was deleted")
            return
        with Steps(OutputConsole()).step(f"delete {found.stack.name}"):
            delete(access, found.stack)


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
