"""Lines with comments: beside them in a column if there is room, else below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.sanitizer import visible

WIDEST = 60
"""The column of comments begins at most here, also on a wider terminal."""


@dataclass(frozen=True)
class Line:
    """A line, which is never folded, and its comment."""

    text: Text
    comment: str = ""


def print_lines(console: OutputConsole, lines: Sequence[Line]) -> None:
    """Print each line with its comment, which begins with `#` and is folded between words."""
    for text in _laid_out(console, lines):
        console.print(text, soft_wrap=True)


def _laid_out(console: OutputConsole, lines: Sequence[Line]) -> Iterator[Text]:
    limit = min(console.width // 2, WIDEST)
    column = 2 + max((line.text.cell_len for line in lines if line.text.cell_len <= limit), default=0)
    for line in lines:
        comment, length = Text(f"# {visible(line.comment)}", "dim"), line.text.cell_len
        room = console.width - length - comment.cell_len
        if not line.comment:
            yield line.text
        elif room >= 2:
            yield Text.assemble(line.text, " " * max(min(column - length, room), 2), comment)
        else:
            yield line.text
            yield from _below(console, line)


def _below(console: OutputConsole, line: Line) -> Iterator[Text]:
    """The comment, indented further than its line; YAML readers still see a comment."""
    plain = line.text.plain
    lead = f"{' ' * (len(plain) - len(plain.lstrip()) + 2)}# "
    for part in Text(visible(line.comment)).wrap(console, max(console.width - len(lead), 1)):
        yield Text(f"{lead}{part.plain.rstrip()}", "dim")
