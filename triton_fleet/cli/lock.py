"""`fleet lock`: records for review what an environment will run."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triton_fleet.cli.arguments import Endpoints, Env, Profile
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.findings import Finding, FindingsError, one_failure
from triton_fleet.printers.console import OutputConsole
from triton_fleet.store.lock import try_locks

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


def lock(
    env: Env,
    endpoints: Endpoints = None,
    profile: Profile = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", help="Drop files that the lock lists but the repositories no longer have."
        ),
    ] = False,
) -> None:
    """Record in locks/ENV/ what an environment will run.

    Calls AWS for model repositories in S3; where it cannot be asked, the locks of the other endpoints are
    written. The digest and the facts of an image are recorded if the credentials show them, and expected
    otherwise.

    Exit code 1: an input is wrong, and no lock is written; 2: a lock could not be made.
    """
    project = chosen_project(current_fleet(), env, endpoints)
    if origin := project.environment.promoted_from:
        message = f"{env} is promoted from {origin}: its locks are not written from repositories"
        hint = f"run {project.environment.lock_command('ENDPOINT')}"
        raise FindingsError([Finding(code="FL845", message=message, hint=hint)])

    @cache
    def s3() -> S3Client:
        return connect(project, profile).client("s3")

    @cache
    def ecr() -> Any:
        return connect(project, profile).client("ecr")

    console = OutputConsole(stderr=True)
    with console.status("reading the model repositories") if console.is_terminal else nullcontext():
        run = try_locks(project, s3, ecr, drop_missing=drop_missing)
    for file in run.changes:
        say(f"wrote {file.relative_to(project.root)}")
    if run.failures:
        raise one_failure(run.failures)
    if not run.changes:
        say("the locks are up to date")
