"""The question before a deploy of files that no commit has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from triton_fleet.awsapi.actor import is_ci
from triton_fleet.cli.output import ask_consent, say
from triton_fleet.core.formats import count_of
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.printers.excerpt import place_in
from triton_fleet.printers.lines import print_error
from triton_fleet.project.project import Project
from triton_fleet.selection.checkout import Checkout, checkout

MAX_FILES = 5
"""Files that are listed; the others are counted."""


def committed_checkout(
    project: Project, *, locked: bool, allow_dirty: bool, restored_files: Iterable[Path] = ()
) -> Checkout:
    """The commit that endpoints are deployed from, if the user agrees to what differs from it.

    Nobody is asked outside of Git, if `allow_dirty`, or about files that a rollback has restored.

    Raises:
        FindingsError: files are not committed, and nobody can be asked: in CI, or without a terminal.
        CannotRunError: Git refuses to read the clone.
        typer.Exit: the user does not agree.
    """
    try:
        current_checkout = checkout(project, locked=locked)
    except CannotRunError:
        if allow_dirty:
            return Checkout()
        raise
    files = sorted(
        {*current_checkout.uncommitted}.difference(
            Path(os.path.realpath(restored_file)) for restored_file in restored_files
        )
    )
    if not files or allow_dirty:
        return current_checkout
    number = len(files)
    subject = f"{count_of(number, 'file')} of what {project.environment.environment} would run"
    problem = f"{subject} {'differs' if number == 1 else 'differ'} from the last commit:"
    names = [str(place_in(project.root, file)) for file in files[:MAX_FILES]]
    more = [f"and {number - len(names)} more"] if number > len(names) else []
    if is_ci(os.environ) or not sys.stdin.isatty():
        message = " ".join([problem, ", ".join(names), *more])
        hint = "commit what you deploy, or pass `--allow-dirty`: the release is then recorded as uncommitted"
        raise FindingsError([Finding(code="FL527", message=message, hint=hint)])
    say(problem)
    for line in (*names, *more):
        say(f"  {line}")
    if not ask_consent("Deploy what is not committed?", yes=False):
        print_error("nothing was deployed")
        raise typer.Exit(1)
    return current_checkout
