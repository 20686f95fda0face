"""Plain lines on standard output, and questions: a name is never taken for markup, and has no power."""

from __future__ import annotations

import sys

import typer
from rich.text import Text

from fleet.findings import CannotRunError
from fleet.printers.console import OutputConsole
from fleet.printers.sanitizer import indent_lines


def say(line: str, style: str = "") -> None:
    """Print one line; a terminal folds it between words, a pipe gets it whole.

    Where a name in it breaks the line, what follows begins with `    | `.
    """
    console = OutputConsole()
    console.print(Text(indent_lines(line), style=style), soft_wrap=not console.is_terminal)


def ask_consent(question: str, *, yes: bool) -> bool:
    """Whether the user agrees, on a terminal.

    Raises:
        CannotRunError: there is no terminal, and `--yes` was not given.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise CannotRunError("nobody can be asked: standard input is no terminal", "say --yes")
    return _confirm(question)


def consent(question: str, *, yes: bool) -> bool:
    """Whether the user agrees; where there is no terminal, only with `--yes`."""
    return yes or (sys.stdin.isatty() and _confirm(question))


def _confirm(question: str) -> bool:
    """What the user answers; words of AWS and names of others in the question drive no terminal."""
    return typer.confirm(indent_lines(question))
