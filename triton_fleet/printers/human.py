"""Findings as a person reads them: what is wrong, the line that it is about, a hint; the sum at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from triton_fleet.core.formats import count_of
from triton_fleet.findings import Finding, Severity
from triton_fleet.printers.causes import causes
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.excerpt import Excerpt, Excerpts
from triton_fleet.printers.sanitizer import indent_lines, visible
from triton_fleet.rules.names import finding_prefix

STYLE = {Severity.ERROR: "red bold", Severity.WARNING: "yellow bold"}
WIDTH_OF_A_LOG = 120
"""Cells to which an excerpt is cut where no terminal has a width."""
MIN_WIDTH = 20
MAX_NAMES = 5
"""The endpoints or places that a person is shown; the formats for machines have all of them."""
TAB = "    "
CUT = "…"


def show_findings(findings: Sequence[Finding]) -> None:
    """Print each cause on standard error, with its place relative to the working directory."""
    console = OutputConsole(stderr=True)
    width = console.width if console.is_terminal else WIDTH_OF_A_LOG
    excerpts = Excerpts(findings)
    for cause in causes(findings):
        finding = cause.first
        console.print(_line(finding), soft_wrap=True)
        excerpt = excerpts.of(finding)
        if excerpt is not None:
            for line in _draw_excerpt(excerpt, str(finding.line), width, STYLE[finding.severity]):
                console.print(line, soft_wrap=True)
        if cause.hint:
            console.print(Text(f"  hint: {indent_lines(cause.hint)}", style="dim"), soft_wrap=True)
        for extent in cause.extents(lambda repeat: _short(repeat).place):
            console.print(Text(f"  {visible(extent.first(MAX_NAMES))}"), soft_wrap=True)
    console.print(Text(sum_of(findings), style="bold"))


def _short(finding: Finding) -> Finding:
    """A finding with its file relative to the working directory, if it is below that."""
    file = finding.file
    if file is None or not file.is_relative_to(Path.cwd()):
        return finding
    return replace(finding, file=file.relative_to(Path.cwd()))


def sum_of(findings: Sequence[Finding]) -> str:
    """How many there are of each severity, such as "1 error, 2 warnings"."""
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    return f"{count_of(errors, 'error')}, {count_of(len(findings) - errors, 'warning')}"


def _line(finding: Finding) -> Text:
    position = f"{visible(position)}: " if (position := _short(finding).place) else ""
    mark = (finding_prefix(finding.severity, finding.code), STYLE[finding.severity])
    return Text.assemble((position, "bold"), mark, f": {indent_lines(finding.message)}")


def _draw_excerpt(excerpt: Excerpt, number: str, width: int, style: str) -> Iterator[Text]:
    gutter = f"  {number} | "
    room = max(width - len(gutter), MIN_WIDTH)
    maximum = 4 * room  # characters: enough to fill it, few enough not to measure a line of a megabyte
    before, part, after = _fit(
        _displayable(excerpt.line[max(excerpt.start - maximum, 0) : excerpt.start]),
        _displayable(excerpt.line[excerpt.start : excerpt.end][:maximum]),
        _displayable(excerpt.line[excerpt.end :][:maximum].rstrip()),
        room,
    )
    yield Text.assemble((gutter, "blue"), before, part, after)
    carets = "^" * max(cell_len(part), 1)
    blank = f"  {' ' * len(number)} | "
    yield Text.assemble((blank, "blue"), " " * cell_len(before), (carets, style))


def _displayable(text: str) -> str:
    return visible(text.replace("\t", TAB))


def _fit(before: str, part: str, after: str, width: int) -> tuple[str, str, str]:
    """The three parts in at most `width` cells; what is meant stays as long as it can."""
    part = _cut(part, width)
    room = width - cell_len(part)
    left_width = max(room // 2, room - cell_len(after))
    before = _cut(before[::-1], left_width)[::-1]
    return before, part, _cut(after, room - cell_len(before))


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1) + CUT if width > 0 else ""
