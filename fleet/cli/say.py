"""Plain lines on standard output: what a user has named is never taken for markup."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def say(line: str) -> None:
    """Print one line, whatever its length."""
    Console(highlight=False).print(Text(line), soft_wrap=True)
