"""Plain lines on standard output: what a user has named is never taken for markup."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def say(line: str, style: str = "") -> None:
    """Print one line; a terminal folds it between words, a pipe gets it whole."""
    console = Console(highlight=False)
    console.print(Text(line, style=style), soft_wrap=not console.is_terminal)
