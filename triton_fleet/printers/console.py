"""The one console: whatever is printed on it, only what this product styles and draws has power."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from triton_fleet.printers.sanitizer import LineGuard, visible

if TYPE_CHECKING:
    from rich.table import Table

WIDTH_OF_A_PIPE = 10_000
"""In a pipe, lines and tables are not folded."""


class OutputConsole(Console):
    """A console without markup, of which no text drives the terminal or commands a CI runner."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, highlight=False, markup=False, emoji=False)

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


def plain_table(*titles: str) -> Table:
    """A table without lines, whose columns have these titles and fold."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def print_rows(headings: Sequence[str], optional: Collection[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts on stdout; a narrow terminal does not show the optional columns."""
    tables, all_rows = [], list(rows)
    for hidden_columns in ((), optional):
        table = plain_table(*(title for title in headings if title not in hidden_columns))
        for row in all_rows:
            cells = (cell for title, cell in zip(headings, row, strict=True) if title not in hidden_columns)
            table.add_row(*(Text(visible(cell)) for cell in cells))
        tables.append(table)
    unfolded_console().print_widest(tables)


def unfolded_console() -> OutputConsole:
    """A console for stdout that folds nothing in a pipe."""
    console = OutputConsole()
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    return console
