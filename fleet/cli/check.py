"""`fleet check`: what AWS, Triton or the GPU would refuse later, said before anything is deployed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.checked import all_findings, with_line
from fleet.cli.arguments import Env
from fleet.cli.say import say
from fleet.exits import INPUT_IS_WRONG
from fleet.findings import FindingsError, Severity
from fleet.printers.formats import Format, print_findings
from fleet.project_root import project_root
from fleet.spec.paths import named_by
from fleet.spec.project import open_project


def check(
    env: Env,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Endpoints by name; specs, locks or folders of specs by path; all if none is named.",
        ),
    ] = None,
    format: Annotated[
        Format, typer.Option("--format", help="For a person, a program, or annotations in a pull request.")
    ] = Format.HUMAN,
    locked: Annotated[
        bool, typer.Option("--locked", help="Take locks as they are: no repository is read and compared.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings as well.")] = False,
) -> None:
    """Say what is wrong with the endpoints of an environment; nothing is changed.

    A spec that lies elsewhere is checked as if it were one of the environment's, without a lock.
    """
    root = project_root(Path.cwd())
    try:
        named = named_by(root, env, paths or ())
        project = open_project(root, env, named.endpoints, named.draft_names())
        if named.drafts and not named.endpoints:
            project = replace(project, endpoints=())
        findings = all_findings(project, named.drafts, locked=locked)
    except FindingsError as error:
        findings = [with_line(each) for each in error.findings]
    else:
        if not findings and format is Format.HUMAN:
            checked = [*project.endpoints, *(file.name for file in named.drafts)]
            say(f"{env}: no findings in {', '.join(checked) or 'model_specs/, which holds none'}")
            return
    print_findings(findings, format, root)
    if format is Format.HUMAN:
        print(f"`fleet rules {findings[0].code}` explains the first", file=sys.stderr)
    if any(strict or each.severity is Severity.ERROR for each in findings):
        sys.exit(INPUT_IS_WRONG)
