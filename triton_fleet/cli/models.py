"""`fleet models`: lists, adds and removes the archives of a live endpoint without a deploy."""

from __future__ import annotations

from typing import Annotated

import typer

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Env, Profile, Yes, require_one_name
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import ask_consent, say
from triton_fleet.store.live.addition import add_archive, repository_source, told_of_arguments
from triton_fleet.store.live.live_set import (
    LiveSet,
    Target,
    check_archive_name,
    digests_of,
    live_set,
    require_removable,
    targets_of,
)
from triton_fleet.store.progress import shown_size

app = typer.Typer(
    help="List, add and remove models without a deploy (live sets).",
    no_args_is_help=True,
)

Endpoint = Annotated[
    str,
    typer.Argument(help="An endpoint whose spec has `archive_set: live`.", callback=require_one_name),
]


@app.command("ls")
def list_models(
    endpoint: Endpoint,
    env: Env,
    digests: Annotated[bool, typer.Option("--digests", help="Also show the digest of each archive.")] = False,
    profile: Profile = None,
) -> None:
    """List the models that callers can invoke."""
    project = current_project(env, endpoint)
    live = live_set(project, endpoint)
    s3 = connect(project, profile).client("s3")
    with aws_errors_as_findings(live.deployment):
        targets = targets_of(s3, live)
        names = [target.name for target in targets if target.size is not None] if digests else []
        digests_by_name = digests_of(s3, live, names)
    rows = [_row(live, target, digests_by_name) for target in targets]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if not rows:
        say(f"{endpoint} has no models in {env}")


@app.command()
def add(
    endpoint: Endpoint,
    archive: Annotated[
        str, typer.Argument(help="The archive's name; callers invoke ARCHIVE-vVERSION.tar.gz.")
    ],
    repository: Annotated[
        str,
        typer.Argument(
            help="A model repository: a folder, an archive s3://BUCKET/KEY.tar.gz, or s3://BUCKET/PREFIX/."
        ),
    ],
    env: Env,
    version: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Default: the next free version, or the latest if it has this content."
        ),
    ] = None,
    digest: Annotated[
        str | None, typer.Option(help="For a repository in S3: the expected digest of its content.")
    ] = None,
    profile: Profile = None,
) -> None:
    """Add a model; no archive is overwritten.

    Prints the target that callers pass to invoke the model.
    """
    project = current_project(env, endpoint)
    live = live_set(project, endpoint)
    check_archive_name(archive)
    s3 = connect(project, profile).client("s3")
    with aws_errors_as_findings(live.deployment):
        spec = project.load(endpoint)
        with told_of_arguments(spec):
            source = repository_source(project, spec, archive, repository, digest, lambda: s3)
            target = add_archive(s3, live, archive, version, source)
    outcome = "already present" if target.had_target else "added"
    say(f'{outcome}: callers of {endpoint} pass TargetModel="{target.target}"')


@app.command("rm")
def remove(
    endpoint: Endpoint,
    target: Annotated[str, typer.Argument(help="The target that callers pass: ARCHIVE-vVERSION.tar.gz.")],
    env: Env,
    yes: Yes = False,
    profile: Profile = None,
) -> None:
    """Remove a model that is not in the spec."""
    project = current_project(env, endpoint)
    live = live_set(project, endpoint)
    s3 = connect(project, profile).client("s3")
    with aws_errors_as_findings(live.deployment):
        targets = targets_of(s3, live)
    require_removable(live, target, [model.name for model in targets if model.size is not None])
    if not ask_consent(f"Remove {target} from {endpoint} in {env}?", yes=yes):
        say("nothing was removed")
        return
    with aws_errors_as_findings(live.deployment):
        s3.delete_object(Bucket=live.deployment.bucket, Key=live.key(target))
    say(f"removed {target}: instances that have not loaded it now refuse it")
    say("an instance of SageMaker that has it in memory or on disk may continue to serve it")


def _row(live: LiveSet, target: Target, digests: dict[str, str]) -> tuple[str, ...]:
    if target.size is None or target.mtime is None:
        publish = f"fleet publish --env {live.deployment.environment} {live.endpoint}"
        return target.name, "", "", "", f"in the spec, but not in the bucket: run `{publish}`"
    modification_time = target.mtime.strftime("%Y-%m-%d %H:%M:%S %Z")
    origin = "spec" if target.is_declared else "added by hand"
    return target.name, shown_size(target.size), modification_time, digests.get(target.name, ""), origin
