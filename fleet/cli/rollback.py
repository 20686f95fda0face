"""`fleet rollback`: brings back what an environment ran before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.rollback import changed_keys, earlier_release, require_stored, write_release
from fleet.cli.arguments import Env, Profile
from fleet.cli.aws_access import connect
from fleet.cli.deploy import deploy as deploy_command
from fleet.cli.output import say
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.findings import Finding, FindingsError
from fleet.spec.environment import LOCAL
from fleet.spec.project import Project, environment_names, open_project


def rollback(
    endpoint: Annotated[str, typer.Argument(help="The endpoint.")],
    env: Env,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="COMMIT", help="The commit. Default: the last with another lock or spec."
        ),
    ] = None,
    deploy: Annotated[
        bool, typer.Option("--deploy", help="Deploy it at once, before anybody reviewed the change.")
    ] = False,
    profile: Profile = None,
) -> None:
    """Bring back the spec, archives, engines and image of an earlier lock, as a change to review.

    Nothing is written unless all of it is still in the store, with the content that the lock has.
    """
    if env == LOCAL:
        message = "the environment `local` has no locks in Git"
        raise FindingsError(
            [Finding(code="FL604", message=message, hint="change the files, then `fleet local up`")]
        )
    root = project_root(Path.cwd())
    project = open_project(root, env)
    release = earlier_release(project, endpoint, to)
    access = connect(root, place_of(project.environment), profile)
    require_stored(project, release, access.client("s3"), access.client("ecr"))
    changes = changed_keys(project, release)
    files = write_release(release)
    say(f"{endpoint} in {env} as in {release.commit}")
    for change in changes:
        say(f"  {change}")
    if not files:
        say("the lock and the spec are the same already")
    for file in files:
        say(f"wrote {file.relative_to(root)}")
    if others := _others(project, endpoint, files):
        say(f"the spec is also that of {', '.join(others)}")
    if deploy:
        deploy_command(env, [endpoint], locked=True, profile=profile)
    elif files:
        locked = "" if project.is_promoted else " --locked"
        say(f"review and commit, then run `fleet deploy --env {env}{locked} {endpoint}`")


def _others(project: Project, endpoint: str, files: list[Path]) -> list[str]:
    """Other environments that follow a spec in model_specs/ that was written."""
    if project.spec_files.get(endpoint) not in files or project.is_promoted:
        return []
    own = project.environment.environment
    others = [each for each in environment_names(project.root) if each != own]
    return [each for each in others if not open_project(project.root, each).is_promoted]
