"""`fleet deploy`: deploys to an environment's account what the locks record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fleet.artifacts.progress import progress_on
from fleet.aws.deploy.cdk import Cdk
from fleet.aws.deploy.deploy import Deploy, DeployFolder
from fleet.check.run import checked_fleet
from fleet.cli.arguments import Endpoints, Env, Profile
from fleet.cli.aws_access import connect
from fleet.cli.interruption import end_like_ctrl_c
from fleet.cli.output import consent
from fleet.cli.policy_day import policy_day
from fleet.cli.selection import chosen_project
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import resolve_foundation
from fleet.findings import Finding, FindingsError
from fleet.printers.console import OutputConsole
from fleet.printers.human import show_findings
from fleet.printers.sanitizer import visible
from fleet.printers.steps import Steps
from fleet.spec.environment import LOCAL


def deploy(
    env: Env,
    endpoints: Endpoints = None,
    locked: Annotated[
        bool,
        typer.Option(
            "--locked",
            help="Use the locks even if the repositories differ: to roll back to an earlier lock.",
        ),
    ] = False,
    foundation: Annotated[
        bool,
        typer.Option(
            "--foundation", help="Deploy only what endpoints share: for a new environment without locks."
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Continue a stopped rollback without asking."),
    ] = False,
    profile: Profile = None,
) -> None:
    """Check, bootstrap if missing, deploy Foundation, publish, and deploy the endpoints one by one.

    Changes of permissions need no confirmation: they were reviewed with the lock. If SageMaker has rolled an
    update back by itself and the stack's rollback stopped because of that, the rollback is continued after
    you confirm. The first endpoint that fails ends the command. It can be interrupted and run again at any
    point, and continues with what is not done.
    """
    if env == LOCAL:
        message = "the environment `local` is this machine: `fleet deploy` is for AWS accounts"
        raise FindingsError([Finding(code="FL604", message=message, hint="run `fleet local up`")])
    if foundation and endpoints:
        raise typer.BadParameter("cannot be combined with endpoints", param_hint="--foundation")
    end_like_ctrl_c()
    root, console = project_root(Path.cwd()), OutputConsole()
    project, steps = chosen_project(root, env, endpoints), Steps(console)
    with steps.step("check"):
        fleet = (
            resolve_foundation(root, env)
            if foundation
            else checked_fleet(project, locked=locked, today=policy_day())
        )
    if fleet.warnings:
        show_findings(fleet.warnings)
    with steps.step("account") as step:
        access = connect(root, fleet.place, profile)
        step.note = f"{fleet.place.account}, {fleet.place.region}"

    def agreed_to(question: str) -> bool:
        with steps.paused():
            return consent(question, yes=yes)

    folder = DeployFolder(root, env)
    with folder.deploying():
        where_logs = f"the full output of the CDK CLI is in {folder.log.relative_to(root)}"
        cdk = Cdk(root, access.cdk_environment, log=folder.log, where_logs=where_logs)
        progress = progress_on(console)
        work = Deploy(
            project,
            fleet,
            access,
            cdk,
            assembly=folder.assembly,
            steps=steps,
            progress=progress,
            consent=agreed_to,
        )
        try:
            work.run()
        finally:
            console.print(_summary(steps))


def _summary(steps: Steps) -> Table:
    """The result of each step; the remaining ones as not done."""
    table = Table(box=None, pad_edge=False)
    for heading in ("step", "result"):
        table.add_column(heading, overflow="fold")
    table.add_column("seconds", justify="right")
    for taken in steps.taken:
        result = Text("failed", "red") if taken.failed else Text(visible(taken.note) or "done")
        table.add_row(Text(taken.title), result, f"{taken.seconds:.1f}")
    for title in steps.to_come:
        table.add_row(Text(title), Text("not done", "yellow"), "")
    return table
