"""`fleet promote`: another environment will run the archives and images that were tested in one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.progress import progress_on, shown_size
from fleet.artifacts.promote.lock import require_two
from fleet.artifacts.promote.promote import Next, PromotionSource
from fleet.artifacts.promote.promote import promote as copy_and_lock
from fleet.cli.aws_access import connect
from fleet.cli.output import say
from fleet.cli.selection import chosen_project
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.printers.console import OutputConsole
from fleet.spec.environment import LOCAL
from fleet.spec.project import open_project


def promote(
    endpoints: Annotated[
        list[str],
        typer.Argument(
            metavar="ENDPOINT...", help="The endpoints that were tested, as in docs/selectors.md."
        ),
    ],
    source: Annotated[str, typer.Option("--from", help="The environment in which they were tested.")],
    target: Annotated[str, typer.Option("--to", help="The environment that will run them.")],
    from_profile: Annotated[
        str | None, typer.Option(help="Profile of the account that is read from.")
    ] = None,
    to_profile: Annotated[str | None, typer.Option(help="Profile of the account that is written to.")] = None,
) -> None:
    """Copy the archives and images that one environment runs to another by digest, and write its locks."""
    root = project_root(Path.cwd())
    tested = chosen_project(root, source, endpoints)
    wanted = open_project(root, target, tested.endpoints)
    require_two(tested, wanted, LOCAL)
    read = connect(root, place_of(tested.environment), from_profile)
    written = connect(root, place_of(wanted.environment), to_profile)
    done = copy_and_lock(
        PromotionSource(
            project=tested,
            s3=read.client("s3"),
            sagemaker=read.client("sagemaker"),
            ecr=read.client("ecr"),
        ),
        Next(project=wanted, s3=written.client("s3"), ecr=written.client("ecr")),
        progress_on(OutputConsole()),
    )
    say(_summary("archive", done.copied, done.bytes, done.there))
    if done.images or done.images_there:
        say(_summary("image", done.images, done.image_bytes, done.images_there))
    for file in done.locks:
        say(f"wrote {file.relative_to(root)}")
    deploy = f"run `fleet deploy --env {target} {' '.join(tested.endpoints)}`"
    if done.locks:
        say(f"review and commit {'it' if len(done.locks) == 1 else 'them'}, then {deploy}")
    else:
        say(f"the lock{' is' if len(tested.endpoints) == 1 else 's are'} up to date: {deploy}")


def _summary(what: str, copied: int, size: int, there: int) -> str:
    if not copied:
        return f"copied nothing: {_count(what, there)} already present"
    also = f"; {there} already present" if there else ""
    return f"copied {_count(what, copied)}, {shown_size(size)}{also}"


def _count(what: str, number: int) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
