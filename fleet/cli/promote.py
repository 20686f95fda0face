"""`fleet promote`: another environment will run the archives that were tested in one."""

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
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.printers.console import OutputConsole
from fleet.spec.environment import LOCAL
from fleet.spec.project import open_project


def promote(
    endpoints: Annotated[
        list[str], typer.Argument(metavar="ENDPOINT", help="The endpoints that were tested.")
    ],
    source: Annotated[str, typer.Option("--from", help="The environment in which they were tested.")],
    target: Annotated[str, typer.Option("--to", help="The environment that will run them.")],
    from_profile: Annotated[
        str | None, typer.Option(help="Profile of the account that is read from.")
    ] = None,
    to_profile: Annotated[str | None, typer.Option(help="Profile of the account that is written to.")] = None,
) -> None:
    """Copy the archives that one environment runs to another's store by digest, and write its locks."""
    root = project_root(Path.cwd())
    tested, wanted = open_project(root, source, endpoints), open_project(root, target, endpoints)
    require_two(tested, wanted, LOCAL)
    read = connect(root, place_of(tested.environment), from_profile)
    written = connect(root, place_of(wanted.environment), to_profile)
    done = copy_and_lock(
        PromotionSource(project=tested, s3=read.client("s3"), sagemaker=read.client("sagemaker")),
        Next(project=wanted, s3=written.client("s3")),
        progress_on(OutputConsole()),
    )
    if done.copied:
        also = f"; {done.there} already present" if done.there else ""
        say(f"copied {_archives(done.copied)}, {shown_size(done.bytes)}{also}")
    else:
        say(f"copied nothing: {_archives(done.there)} already present")
    for file in done.locks:
        say(f"wrote {file.relative_to(root)}")
    deploy = f"run `fleet deploy --env {target} {' '.join(tested.endpoints)}`"
    if done.locks:
        say(f"review and commit {'it' if len(done.locks) == 1 else 'them'}, then {deploy}")
    else:
        say(f"the lock{' is' if len(tested.endpoints) == 1 else 's are'} up to date: {deploy}")


def _archives(count: int) -> str:
    return f"{count} archive{'s' * (count != 1)}"
