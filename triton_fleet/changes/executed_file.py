"""A file of a change that a deploy may execute, and the lines of a report about such files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triton_fleet.core.sizes import count_of

EXECUTED = "This change edits what a deploy runs"
EXECUTED_HINT = "No template shows what these files do: read them."
MAX_EXECUTED, MIN_EXECUTED = 40, 5
"""Files that are listed, in a short report the second; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class ExecutedFile:
    """A file that differs and that a deploy may execute.

    Attributes:
        path: From the top of the Git repository.
        what: The program or tool that reads it, as far as its name shows.
        change: "added", "deleted", "edited", or "edited, executable".
    """

    path: str
    what: str
    change: str


def executed_lines(files: Sequence[ExecutedFile], limit: int) -> Iterator[str]:
    """A line for each file that a deploy may execute, up to a limit, and the number of the others."""
    for file in files[:limit]:
        path = file.path.replace("`", "'")
        yield f"`{path}`: {file.what} ({file.change})"
    if len(files) > limit:
        folders = dict.fromkeys(file.path.partition("/")[0] for file in files[limit:])
        yield f"and {count_of(len(files) - limit, 'more file')} in or below: {', '.join(folders)}"
