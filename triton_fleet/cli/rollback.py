"""`fleet rollback`: brings back what an environment ran before."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from triton_fleet.cli.arguments import Endpoint, Env, Profile
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.commit_question import committed_checkout
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.deploy import deploy as deploy_command
from triton_fleet.cli.output import say
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.spec.environment import LOCAL
from triton_fleet.store.release_history import RELEASE_ID, release_to_restore
from triton_fleet.store.rollback import earlier_release, release_changes, require_contents, write_release


def rollback(
    endpoint: Endpoint,
    env: Env,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="RELEASE",
            help="The release to return to, as `fleet history` lists it, or a commit. Default: the last"
            " commit with another lock or spec than HEAD.",
        ),
    ] = None,
    deploy: Annotated[
        bool, typer.Option("--deploy", help="Also deploy it now, before the change is reviewed.")
    ] = False,
    profile: Profile = None,
) -> None:
    """Restore an earlier lock of an endpoint, for review.

    Restores the lock and the spec of an earlier commit, if the store still has every archive, engine and
    image that the lock names. The id of a release may be shortened.
    """
    if env == LOCAL:
        message = "the environment `local` has no locks in Git"
        raise FindingsError(
            [Finding(code="FL604", message=message, hint="change the files, then `fleet local up`")]
        )
    project = current_project(env)
    if to is not None and RELEASE_ID.fullmatch(to):
        access = connect(project, profile)
        release = release_to_restore(project, endpoint, to, access.client("s3"))
    else:
        release = earlier_release(project, endpoint, to)
        access = connect(project, profile)
    require_contents(project, release, access.client("s3"), access.client("ecr"))
    changes, neighbours = release_changes(project, release), _neighbours(project, endpoint)
    files = write_release(release, project.root)
    say(f"{endpoint} in {env} {'as in' if files else 'is already restored to'} {release.commit}")
    for change in changes:
        say(f"  {change}")
    for file in files:
        say(f"wrote {file.relative_to(project.root)}")
    if neighbours and project.spec_files.get(endpoint) in files:
        say(f"the spec is also that of {', '.join(neighbours)}")
    if deploy:
        current = current_project(env, endpoint)
        committed_checkout(current, locked=True, allow_dirty=False, restored_files=release.contents)
        deploy_command(env, [endpoint], locked=True, allow_dirty=True, profile=profile)
    elif files:
        lock_option = "" if project.is_promoted else " --locked"
        say(f"review and commit, then run `fleet deploy --env {env}{lock_option} {endpoint}`")


def _neighbours(project: Project, endpoint: str) -> list[str]:
    """The other environments that have the spec in model_specs/; those with mistakes are left out."""
    endpoints = list[str]()
    for name in project.fleet.environments:
        if project.is_promoted or name in (project.environment.environment, LOCAL):
            continue
        with suppress(FindingsError):
            project_of_name = project.fleet.open(name)
            if not project_of_name.is_promoted and endpoint in project_of_name.spec_files:
                endpoints.append(name)
    return endpoints
