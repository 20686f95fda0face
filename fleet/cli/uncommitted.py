"""The question before a deploy of files that no commit has."""

from __future__ import annotations

import os
import sys

import typer

from fleet.aws.actor import is_ci
from fleet.cli.output import ask_consent, say
from fleet.core.sizes import count_of
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.printers.file_names import place_in
from fleet.printers.lines import print_error
from fleet.selection.uncommitted import Checkout, checkout
from fleet.spec.project import Project

SHOWN = 5
"""How many files are listed."""


def committed_checkout(project: Project, *, locked: bool, allow_dirty: bool) -> Checkout:
    """The commit that endpoints are deployed from, if the user agrees to what differs from it.

    Nobody is asked outside of Git, or if `allow_dirty`.

    Raises:
        FindingsError: files are not committed, and nobody can be asked: in CI, or without a terminal.
        CannotRunError: Git refuses to read the clone.
        typer.Exit: the user does not agree.
    """
    try:
        found = checkout(project, locked=locked)
    except CannotRunError:
        if allow_dirty:
            return Checkout()
        raise
    if not found.uncommitted or allow_dirty:
        return found
    env, count = project.environment.environment, count_of(len(found.uncommitted), "file")
    names = [str(place_in(project.root, each)) for each in found.uncommitted[:SHOWN]]
    more = len(found.uncommitted) - len(names)
    if is_ci(os.environ) or not sys.stdin.isatty():
        listed = ", ".join(names) + (f" and {more} more" if more else "")
        message = f"{count} of what {env} would run differ from the last commit: {listed}"
        hint = "commit them, or deploy them with `--allow-dirty`: the release is recorded as uncommitted"
        raise FindingsError([Finding(code="FL527", message=message, hint=hint)])
    say(f"{count} of what {env} would run differ from the last commit:")
    for line in (*names, *([f"and {more} more"] if more else [])):
        say(f"  {line}")
    if not ask_consent("Deploy them without a commit?", yes=False):
        print_error("nothing was deployed")
        raise typer.Exit(1)
    return found
