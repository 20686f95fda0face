"""Lines of a container's log: which report an error, and which belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from triton_fleet.endpoint.dashboard.log_queries import ERROR_HEAD, ERROR_WORDS
from triton_fleet.rules.about.security import SECRET_NAME, SECRET_VALUE

ERROR = re.compile(rf"{ERROR_HEAD}|(?i:{'|'.join(ERROR_WORDS)}|\bUNAVAILABLE: |^\s*ERROR: )")
INFORMATION = re.compile(r"^I\d{4} \d{2}:\d{2}:\d{2}")
"""The beginning of Triton's lines that are not errors; most lines, if the log is verbose."""
ROW = re.compile(r"^\|(?P<cells>.*)\|\s*$")
ASSIGNMENT = re.compile(r"\b(?P<name>\w{3,64})['\"]?\s{0,3}[=:]\s{0,3}['\"]?")
VALUE = re.compile(r"[^\s'\",;]+")
MASK = "[a secret]"
MOST_LINES, MOST_CHARACTERS = 4_000, 4_000
"""How many of the last lines are read, and how many characters of each."""


def is_error(line: str) -> bool:
    """Whether a line reports an error."""
    return INFORMATION.match(line) is None and ERROR.search(line[:MOST_CHARACTERS]) is not None


def bare(text: str) -> str:
    """The text without what looks like a secret: a model may print anything to the log."""
    parts, at, text = list[str](), 0, text[:MOST_CHARACTERS]
    for match in ASSIGNMENT.finditer(text):
        value = VALUE.match(text, match.end())
        if value is not None and match.start() >= at and SECRET_NAME.search(match["name"]):
            parts += [text[at : value.start()], MASK]
            at = value.end()
    return SECRET_VALUE.sub(MASK, "".join([*parts, text[at:]]))


def one_line(text: str) -> str:
    """The text with each run of white space as one blank, also Triton's new lines of two characters."""
    return " ".join(bare(text).replace("\\n", " ").split())


def symptom_texts(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The texts in which a symptom may be: each line with the next one, as some sentences span two.

    Triton's informational lines are left out. The cells of a table's row, which Triton folds to the table's
    width, are joined.
    """
    relevant_lines = [line[:MOST_CHARACTERS] for line in lines if INFORMATION.match(line) is None][
        -MOST_LINES:
    ]
    whole = list(unfold_tables(relevant_lines))
    yield from zip(whole, [*whole[1:], ""], strict=True)


def unfold_tables(lines: Sequence[str]) -> Iterator[str]:
    """The lines; those of one table row are joined."""
    row = list[str]()
    for line in lines:
        cells = match["cells"].split("|", 2) if (match := ROW.match(line.rstrip())) else []
        is_more = bool(row) and len(cells) == len(row) == 3 and not (cells[0].strip() or cells[1].strip())
        if is_more:
            row[2] += cells[2][1:-1]
            continue
        if row:
            yield _row(row)
        row = []
        if len(cells) == 3:
            row = [cells[0], cells[1], cells[2][1:-1]]
        else:
            yield line
    if row:
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.strip() for cell in cells)} |"
