"""Plain lines on standard output: what anybody has named is never taken for markup, and has no power."""

from __future__ import annotations

from rich.text import Text

from fleet.printers.console import OutputConsole
from fleet.printers.sanitizer import continued


def say(line: str, style: str = "") -> None:
    """Print one line; a terminal folds it between words, a pipe gets it whole.

    Where a name in it breaks the line, what follows begins with `    | `.
    """
    console = OutputConsole()
    console.print(Text(continued(line), style=style), soft_wrap=not console.is_terminal)
