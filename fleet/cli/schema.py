"""`fleet schema`: the JSON Schemas that editors complete the YAML files with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.files import is_up_to_date, write_atomically
from fleet.cli.say import say
from fleet.findings import Finding, FindingsError
from fleet.project_root import project_root
from fleet.spec.schema import schemas


def schema(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 where a file is stale.")
    ] = False,
) -> None:
    """Write the JSON Schemas of specs and environments, generated from the types that validate them."""
    root = project_root(Path.cwd())
    stale = {file: text for file, text in schemas(root).items() if not is_up_to_date(file, text)}
    if check and stale:
        message, hint = "this schema is not what the types say", "run `fleet schema`"
        raise FindingsError([Finding(code="FL501", message=message, hint=hint, file=file) for file in stale])
    for file, text in stale.items():
        write_atomically(file, text)
        say(f"wrote {file.relative_to(root)}")
