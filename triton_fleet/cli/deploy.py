"""`fleet deploy`: deploys what the locks of an environment record."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from triton_fleet.aws.deploy.cdk import Cdk
from triton_fleet.aws.deploy.deploy import Deploy, Parallelism
from triton_fleet.aws.deploy.deploy_folder import DeployFolder
from triton_fleet.aws.deploy.stack_lease import StackLeases, StackTerms
from triton_fleet.aws.preflight.quotas import headroom
from triton_fleet.awsapi.actor import actor
from triton_fleet.check.run import checked_fleet
from triton_fleet.cli.arguments import Concurrency, Endpoints, Env, FailFast, Profile, policy_day
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.commit_question import committed_checkout
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.output import ask_consent, end_like_ctrl_c
from triton_fleet.cli.selection import chosen_project
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY
from triton_fleet.endpoint.resolve import resolve_foundation
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.git.files import contains
from triton_fleet.local.limitations import with_servable_images
from triton_fleet.printers.console import OutputConsole, plain_table
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.sanitizer import visible
from triton_fleet.printers.steps import Outcome, Steps
from triton_fleet.spec.environment import LOCAL
from triton_fleet.store.progress import progress_on
from triton_fleet.store.releases import release_source

ATTEMPTS = 10
"""How often a throttled call is made, unless the AWS settings set it: botocore waits 55 s on average then."""
AFTER_EXPIRY = "if the deploy lasts longer, sign in again and run it again: it continues"
COLOURS = {Outcome.FAILURE: "red", Outcome.INTERRUPTION: "yellow"}


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
            "--foundation",
            help="Deploy only what endpoints share, such as in a new environment without locks.",
        ),
    ] = False,
    import_existing: Annotated[
        bool,
        typer.Option(
            "--import-existing",
            help="Let Foundation take over buckets and the repository that an earlier Foundation left.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Continue a stopped rollback without asking."),
    ] = False,
    allow_dirty: Annotated[
        bool,
        typer.Option("--allow-dirty", help="Deploy files that are not committed; the release records that."),
    ] = False,
    concurrency: Concurrency = DEFAULT_CONCURRENCY,
    fail_fast: FailFast = False,
    profile: Profile = None,
) -> None:
    """Check, publish and deploy endpoints.

    Also bootstraps the account if needed and deploys Foundation. Endpoints are deployed in parallel; one that
    fails does not stop the others, and all failures are shown at the end. You can interrupt a deploy and run
    it again at any point.

    If files of the endpoints are not committed, you are asked before; in CI and without a terminal, that is
    an error. Outside of Git, nobody is asked. Each release is recorded with its commit, the caller and the
    time: see `fleet history`.

    Permission changes need no confirmation: they were reviewed with the lock. If SageMaker rolled an update
    back by itself and the stack's own rollback stopped because of that, the rollback is continued; on a
    terminal, you are asked before.

    Exit code 1: an input is wrong or a resource failed; 2: the deploy could not run.
    """
    if env == LOCAL:
        message = "the environment `local` is this machine; `fleet deploy` deploys to AWS accounts"
        raise FindingsError([Finding(code="FL604", message=message, hint="run `fleet local up`")])
    if foundation and endpoints:
        raise typer.BadParameter("cannot be combined with endpoints", param_hint="--foundation")
    end_like_ctrl_c()
    project, console = chosen_project(current_fleet(), env, endpoints), OutputConsole()
    root, steps = project.root, Steps(console)
    with steps.step("check"):
        fleet = (
            resolve_foundation(project)
            if foundation
            else checked_fleet(project, trusts_locks=locked, today=policy_day())
        )
    if fleet.warnings:
        show_findings(fleet.warnings)
    deployed_project = replace(project, endpoints=()) if foundation else project
    source = committed_checkout(deployed_project, locked=locked, allow_dirty=allow_dirty)
    with steps.step("account") as step:
        access = connect(project, profile, attempts=ATTEMPTS)
        step.note = f"{fleet.deployment.account}, {fleet.deployment.region}"
    caller = actor(access.check_account(), os.environ)
    if access.is_local_fleet:
        fleet, findings = with_servable_images(project, fleet, is_explicit=bool(endpoints))
        show_findings(findings)
    expiry = access.fixed_expiry()
    if expiry is not None:
        steps.say(f"these credentials expire at {expiry}, and nothing refreshes them: {AFTER_EXPIRY}")

    def continues_rollback(question: str) -> bool:
        with steps.pause():
            return not sys.stdin.isatty() or ask_consent(question, yes=yes)

    folder = DeployFolder(root, env)
    with folder.lock() as token:
        cdk = Cdk(root, access.cdk_environment, log=folder.log, where_logs=folder.log_hint(folder.log))
        progress = progress_on(console)
        work = Deploy(
            project,
            fleet,
            access,
            cdk,
            assembly=folder.assembly,
            steps=steps,
            progress=progress,
            consent=continues_rollback,
            log_of=lambda name: (folder.endpoint_log(name), folder.log_hint(folder.endpoint_log(name))),
            parallelism=Parallelism(
                concurrency=concurrency,
                fail_fast=fail_fast,
                headroom=lambda endpoints: headroom(access, endpoints),
            ),
            imports=import_existing,
            sources=lambda name: release_source(project, name, caller, source),
            leases=StackLeases(
                access,
                StackTerms(
                    holder=str(caller),
                    token=token,
                    commit=source.commit,
                    has_changes=bool(source.uncommitted),
                ),
                steps.say,
                lambda commit: locked or contains(root, commit),
            ),
        )
        try:
            work.run()
        finally:
            console.print(_summary(steps))


def _summary(steps: Steps) -> Table:
    """The result of each step, with the reason if it failed; the remaining ones as not started."""
    table = plain_table("step", "result")
    table.add_column("seconds", justify="right")
    for step in steps.history:
        outcome, note = step.outcome, visible(step.note)
        result = Text(note or outcome)
        if outcome is not Outcome.SUCCESS:
            result = Text.assemble((outcome, COLOURS[outcome]), f": {note}" if note else "")
        table.add_row(Text(step.title), result, f"{step.seconds:.1f}")
    for title in steps.to_come:
        table.add_row(Text(title), Text("not started", "yellow"), "")
    return table
