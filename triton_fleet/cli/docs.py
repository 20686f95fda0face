"""`fleet docs`: the documentation of this version, which needs no network and no clone of the product."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.output import say
from triton_fleet.core.folders import source_path
from triton_fleet.printers.lines import print_line
from triton_fleet.spec.problems import did_you_mean

SUFFIX = ".md"


def docs(
    page: Annotated[
        str | None,
        typer.Argument(metavar="PAGE", help="Such as engines or guides/upgrade. Default: list all pages."),
    ] = None,
) -> None:
    """Print a page of the documentation, or list all pages."""
    folder = source_path("docs")
    pages = {
        file.relative_to(folder).as_posix().removesuffix(SUFFIX): file
        for file in sorted(folder.rglob(f"*{SUFFIX}"))
    }
    if page is None:
        for name, file in pages.items():
            say(f"{name}: {_title(file)}")
        return
    # As a link of another page names it, too.
    name = page.partition("#")[0].removeprefix("docs/").removesuffix(SUFFIX)
    if name not in pages:
        hint = did_you_mean(name, pages)
        raise typer.BadParameter(f"there is no page {page!r}; {hint}", param_hint="PAGE")
    for line in pages[name].read_text("utf-8").splitlines():
        print_line(line)


def _title(file: Path) -> str:
    """The first heading of a page."""
    lines = file.read_text("utf-8").splitlines()
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), file.stem)
