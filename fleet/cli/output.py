"""Plain lines on stdout, and questions: names are never treated as markup or as control characters."""

from __future__ import annotations

import sys

import typer
from rich.text import Text

from fleet.findings import CannotRunError
from fleet.printers.console import OutputConsole
from fleet.printers.sanitizer import indent_lines


def say(line: str, style: str = "") -> None:
    """Print one line; on a terminal it is folded between words.

    If a name in it has a line break, each further line begins with `    | `.
    """
    console = OutputConsole()
    console.print(Text(indent_lines(line), style=style), soft_wrap=not console.is_terminal)


def ask_consent(question: str, *, yes: bool) -> bool:
    """Whether the user agrees; asked on a terminal.

    Raises:
        CannotRunError: stdin is not a terminal, and `--yes` was not passed.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise CannotRunError("cannot ask for confirmation: stdin is not a terminal", "pass --yes")
    return _confirm(question)


def consent(question: str, *, yes: bool) -> bool:
    """Whether the user agrees; without a terminal, only with `--yes`."""
    return yes or (sys.stdin.isatty() and _confirm(question))


def _confirm(question: str) -> bool:
    """The user's answer; control characters in the question, such as from AWS, do not reach the terminal."""
    return typer.confirm(indent_lines(question))
