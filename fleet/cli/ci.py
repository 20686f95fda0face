"""`fleet ci`: what the product writes for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.ci.codeowners import codeowners as block_of
from fleet.ci.codeowners import with_block
from fleet.cli.output import say
from fleet.core.files import write_atomically
from fleet.core.project_root import project_root
from fleet.findings import CannotRunError, Finding, FindingsError

app = typer.Typer(
    help="Files for continuous integration, written from the fleet's own.", no_args_is_help=True
)
PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where GitHub or GitLab looks."""


@app.callback()
def _group() -> None:
    pass


@app.command()
def codeowners(
    file: Annotated[
        Path | None,
        typer.Option("--file", help="The file. Default: the one that exists, else .github/CODEOWNERS."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 if the file is stale.")
    ] = False,
) -> None:
    """Write who reviews which specs, locks and model repositories, from the `owner` of specs.

    What stands outside of the lines that the command marks as its own stays as it is.
    """
    root = project_root(Path.cwd())
    top = _top(root)
    place = file or next((top / each for each in PLACES if (top / each).is_file()), top / PLACES[0])
    try:
        before = place.read_text(encoding="utf-8") if place.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRunError(f"{place} cannot be read: {error}", "name another file: --file") from error
    text = with_block(before, block_of(root, top))
    if text == before:
        say(f"{_shown(place)} is up to date")
    elif check:
        message = "this file does not match the owners of the specs"
        raise FindingsError(
            [Finding(code="FL501", message=message, hint="run `fleet ci codeowners`", file=place)]
        )
    else:
        write_atomically(place, text)
        say(f"wrote {_shown(place)}")


def _shown(place: Path) -> Path:
    here = Path.cwd().resolve()
    return place.relative_to(here) if place.is_relative_to(here) else place


def _top(root: Path) -> Path:
    """The folder of the Git repository around the fleet; the fleet's own where there is none."""
    real = root.resolve()
    return next((each for each in (real, *real.parents) if (each / ".git").exists()), real)
