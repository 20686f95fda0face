"""Files as a finding shows them: their names for machines, and the line that is meant."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from urllib.parse import quote_from_bytes

from triton_fleet.findings import Finding


def place_in(root: Path, file: Path) -> PurePath:
    """A file relative to a folder, links followed; as an absolute path if it is outside."""
    # Not Path.resolve, which raises an error where links lead in a circle.
    real = PurePath(os.path.realpath(file))
    top = os.path.realpath(root)
    return real.relative_to(top) if real.is_relative_to(top) else real


def outside(finding: Finding) -> Finding:
    """A finding about an entry of an archive, at the archive, which is the file that exists."""
    if finding.file is None:
        return finding
    for above in finding.file.parents:
        if above.is_file():
            inner = replace(finding, file=finding.file.relative_to(above)).place
            return replace(finding, file=above, line=1, column=None, message=f"{inner}: {finding.message}")
    return finding


def uri_of(path_in_tree: PurePath) -> str:
    """The path as a URI, absolute as it is."""
    path = quote_from_bytes(os.fsencode(path_in_tree.as_posix()))
    return f"file://{path}" if path_in_tree.is_absolute() else path


MAX_BYTES = 1 << 20
"""So many characters of a file are read; no spec, environment or lock may be larger."""
BREAK = re.compile(r"\r\n|\r|\n")
YAML_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""YAML 1.1 breaks lines at these, and PyYAML counts them so."""
PIECE = re.compile(
    r"""
      "(?:[^"\\]|\\.)*" | '(?:[^']|'')*'                    # text in quotes
    | (?: [^\s,\[\]{}:\#] | :(?=[^\s,\[\]{}]) | (?<=\S)\# )+  # a key, a number, a word, a URL
    | .                                                     # anything else
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Excerpt:
    """One line, without its break, and the part that is meant; start and end count characters from 0."""

    line: str
    start: int
    end: int


class Excerpts:
    """Excerpts for findings in the order of their files: the last file that was read is kept."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._withheld = {(finding.file, finding.line) for finding in findings if finding.confidential}
        self._file: Path | None = None
        self._lines: Sequence[str] = ()

    def of(self, finding: Finding) -> Excerpt | None:
        """The excerpt of a finding's file.

        None where the finding has no line and column; the line is blank, beyond the first MiB or
        confidential; or the file is gone, no regular file, reached by a link, or not UTF-8.
        """
        if finding.file is None or finding.line is None or finding.column is None:
            return None
        if (finding.file, finding.line) in self._withheld:
            return None
        if finding.file != self._file:
            self._file, self._lines = finding.file, _lines(finding.file)
        line = self._lines[finding.line - 1] if 0 < finding.line <= len(self._lines) else ""
        if not line.strip():
            return None
        start = min(finding.column - 1, len(line))
        return Excerpt(line, start, _end(line, start))


def _lines(file: Path) -> Sequence[str]:
    try:
        if not file.is_file():  # a pipe or a device might never end
            return ()
        if os.path.realpath(file) != os.path.normpath(
            file.absolute()
        ):  # a link may lead to what is not of the fleet
            return ()
        with file.open(encoding="utf-8-sig", newline="") as stream:
            text = stream.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError):
        return ()
    lines = (YAML_BREAK if file.suffix in {".yaml", ".yml"} else BREAK).split(text)
    return lines if len(text) <= MAX_BYTES else lines[:-1]


def _end(line: str, start: int) -> int:
    """Where the key, value, list or mapping that begins at `start` ends; one further where unknown."""
    depth = 0
    for piece in PIECE.finditer(line, start):
        depth += (piece[0] in "[{") - (piece[0] in "]}")
        if depth <= 0:
            return piece.end()
    return min(start + 1, len(line))
