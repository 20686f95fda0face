"""Plain lines on stdout, and questions: names are never treated as markup or as control characters."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import typer
from rich.text import Text

from triton_fleet.findings import CannotRunError
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.sanitizer import indent_lines


def say(line: str, style: str = "") -> None:
    """Print one line; on a terminal it is folded between words, each part with the line's indentation.

    If a name in it has a line break, each further line begins with `    | `.
    """
    console, text = OutputConsole(), indent_lines(line)
    if not console.is_terminal:
        console.print(Text(text, style=style), soft_wrap=True)
        return
    indentation = len(text) - len(text.lstrip(" "))
    for part in Text(text.lstrip(" "), style=style).wrap(console, max(console.width - indentation, 1)):
        part.rstrip()
        console.print(Text(" " * indentation).append_text(part))


def ask_consent(question: str, *, yes: bool) -> bool:
    """Whether the user agrees; asked on a terminal.

    Raises:
        CannotRunError: stdin is not a terminal, and `--yes` was not passed.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise CannotRunError("cannot ask for confirmation: stdin is not a terminal", "pass --yes")
    # Control characters in the question, such as from AWS, do not reach the terminal.
    return typer.confirm(indent_lines(question))


def ask_name(question: str, remedy: str) -> str:
    """The text that the user types; asked on a terminal.

    Raises:
        CannotRunError: stdin is not a terminal.
    """
    if not sys.stdin.isatty():
        raise CannotRunError("cannot ask for a name: stdin is not a terminal", remedy)
    return str(typer.prompt(indent_lines(question), default="", show_default=False)).strip()


def end_like_ctrl_c() -> None:
    """Treat SIGTERM and SIGHUP as interruptions from now on."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
