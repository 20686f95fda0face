"""The one console: whatever is printed on it, only what this product styles and draws has power."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from triton_fleet.printers.sanitizer import LineGuard

if TYPE_CHECKING:
    from rich.table import Table

WIDTH_OF_A_PIPE = 10_000
"""In a pipe, lines and tables are not folded."""


class OutputConsole(Console):
    """A console without markup, of which no text drives the terminal or commands a CI runner."""

    def __init__(
        self,
        *,
        stderr: bool = False,
        file: IO[str] | None = None,
        width: int | None = None,
        force_terminal: bool | None = None,
        color_system: Literal["auto"] | None = "auto",
    ) -> None:
        super().__init__(
            stderr=stderr,
            file=file,
            width=width,
            force_terminal=force_terminal,
            color_system=color_system,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's segments with their text made visible; styles and movements of the cursor stay."""
        guard = LineGuard()
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(guard.clean(segment.text), segment.style)

    def print_widest(self, tables: Sequence[Table]) -> None:
        """Print the first table that needs no folding; if all do, the last, which has the fewest columns."""
        options = self.options.update_width(WIDTH_OF_A_PIPE)
        candidates = (table for table in tables if self.measure(table, options=options).maximum <= self.width)
        self.print(next(candidates, tables[-1]))


def unfolded_console() -> OutputConsole:
    """A console for stdout that folds nothing in a pipe."""
    console = OutputConsole()
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    return console
