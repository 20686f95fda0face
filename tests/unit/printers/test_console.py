"""Tables on a narrow terminal, a wide one and in a pipe."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from triton_fleet.printers.console import WIDTH_OF_A_PIPE, OutputConsole


def table(*headings: str) -> Table:
    made_table = Table(*headings, box=None)
    made_table.add_row(*("x" * 20 for _ in headings))
    return made_table


@pytest.mark.parametrize(
    ("width", "columns"), [(WIDTH_OF_A_PIPE, 3), (80, 3), (60, 2), (40, 1)], ids=["pipe", "80", "60", "40"]
)
def test_a_table_leaves_out_columns_before_it_cuts_a_word(width: int, columns: int) -> None:
    stream = io.StringIO()
    console = OutputConsole(file=stream, width=width)
    console.print_widest([table("a", "b", "c"), table("a", "b"), table("a")])
    heading, row = stream.getvalue().splitlines()
    assert heading.split() == ["a", "b", "c"][:columns]
    assert row.split() == ["x" * 20] * columns


def test_a_table_that_never_fits_is_folded_with_the_fewest_columns() -> None:
    stream = io.StringIO()
    OutputConsole(file=stream, width=10).print_widest([table("a", "b"), table("a")])
    assert (
        "".join(stream.getvalue().splitlines()[1:]).replace(" ", "") == "x" * 20 or "…" in stream.getvalue()
    )
