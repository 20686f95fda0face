"""The lines of a fleet in a CODEOWNERS file of others: between two markers, which name the fleet's folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.source import SPECS

_BEGIN = "# Begin: written by `fleet ci codeowners`"
_END = "# End of what `fleet ci codeowners` writes"
_BEGIN_LINE = re.compile(rf"{re.escape(_BEGIN)}(?: in (.+))? from the `owner` of specs; change it there\.")
_REMEDY = (
    "keep one `# Begin` line, the lines that the command wrote, and one `# End` line; or delete all of them"
    " and run the command again"
)


def markers(fleet: str) -> tuple[str, str]:
    """The first and the last line of a fleet's lines.

    Args:
        fleet: The path of the fleet from the top of the Git repository; "." for the top.
    """
    place = "" if fleet == "." else f" in {fleet}"
    return f"{_BEGIN}{place} from the `owner` of specs; change it there.", f"{_END}{place}."


def missing_fleet(file: Path, text: str, top: Path) -> Finding | None:
    """The finding where the lines of a fleet are in the file that is not at its place any more."""
    for number, row in enumerate(text.split("\n"), 1):
        if (begin := _BEGIN_LINE.fullmatch(row.rstrip())) and not (top / (begin[1] or ".") / SPECS).is_dir():
            message = f"these lines are of a fleet in {begin[1] or 'this repository'}, which is not there"
            hint = "delete them, from `# Begin` to `# End`, and run `fleet ci codeowners`"
            return Finding(code="FL516", message=message, hint=hint, file=file, line=number)
    return None


def has_block(text: str, fleet: str) -> bool:
    """Whether a text has one of a fleet's markers."""
    return any(row.rstrip() in markers(fleet) for row in text.split("\n"))


def text_above(text: str, fleet: str) -> str:
    """The text above a fleet's lines; all of it where it has none."""
    return text.partition(markers(fleet)[0])[0]


def with_block(file: Path, text: str, lines: Sequence[str], fleet: str) -> str:
    """The text of a file with the lines in the place of the fleet's earlier ones, else at its end.

    Raises:
        FindingsError: it is not clear which lines are the earlier ones.
    """
    begin, end = markers(fleet)
    return_sign = "\r" if "\r\n" in text else ""
    block = [f"{line}{return_sign}" for line in (begin, *lines, end)]
    rows = text.split("\n")
    if place := _place(file, [row.rstrip() for row in rows], begin, end):
        first, last = place
        return "\n".join([*rows[:first], *block, *(rows[last + 1 :] or [""])])
    while rows and not rows[-1].strip():
        rows.pop()
    return "\n".join([*rows, *([return_sign] if rows else []), *block, ""])


def _place(file: Path, rows: Sequence[str], begin: str, end: str) -> tuple[int, int] | None:
    """The rows of the two markers; None where neither is found."""
    marker_rows = [(index, row) for index, row in enumerate(rows) if row in (begin, end)]
    if not marker_rows:
        return None
    problem, at = "", marker_rows[0][0]
    if [row for _, row in marker_rows] == [begin, end]:
        (first, _), (last, _) = marker_rows
        inner = [index for index in range(first + 1, last) if rows[index].startswith((_BEGIN, _END))]
        if not inner:
            return first, last
        problem, at = "the lines of another fleet are between the markers of this one", inner[0]
    elif len({row for _, row in marker_rows}) == 2 and len(marker_rows) == 2:
        problem = f'the line "{end}" is above the line "{begin}"'
    elif second_marker := next(
        (marker for n, marker in enumerate(marker_rows) if marker[1] in [row for _, row in marker_rows[:n]]),
        None,
    ):
        at, row = second_marker
        problem = f'the line "{row}" is in the file twice'
    else:
        absent_marker = end if marker_rows[0][1] == begin else begin
        problem = f'the line "{absent_marker}" is missing'
    message = f"{problem}, so `fleet ci codeowners` cannot find the lines that it wrote"
    raise FindingsError([Finding(code="FL516", message=message, hint=_REMEDY, file=file, line=at + 1)])
