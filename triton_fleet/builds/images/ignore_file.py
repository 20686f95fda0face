"""A .dockerignore file: which paths of a folder stay out of the build context, and by which line.

Source: https://docs.docker.com/build/concepts/context/#dockerignore-files: the last line that matches a path,
or a folder around it, decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from triton_fleet.builds.images.ignore_pattern import IgnorePattern, PatternError, parse_pattern
from triton_fleet.builds.images.lines import LineNotes, shown
from triton_fleet.findings import Finding

MAX_IGNORE_BYTES = 64 << 10


@dataclass(frozen=True)
class IgnoreMatch:
    """What the patterns make of one path.

    Attributes:
        patterns: The bits of those that match the path or a folder around it.
        by: The one that keeps it out; None where it stays in.
    """

    patterns: int = 0
    by: IgnorePattern | None = None


ROOT = IgnoreMatch()
"""The folder itself, which no pattern matches."""


@dataclass(frozen=True)
class IgnoreFile:
    """The patterns of a file, in their order."""

    file: Path
    patterns: tuple[IgnorePattern, ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def cost(self) -> int:
        """How much work it is to match one character of a path, at most."""
        return sum(len(pattern.text) for pattern in self.patterns)

    def match(self, path: str, around: IgnoreMatch) -> IgnoreMatch:
        """What they make of a path; `around` is what they make of its folder."""
        matching, by = 0, None
        for number, pattern in enumerate(self.patterns):
            bit = around.patterns & (1 << number) or pattern.matches(path) << number
            matching |= bit
            if bit and pattern.is_exception:
                by = None
            elif bit and by is None:
                by = pattern
        return IgnoreMatch(matching, by)

    def ignored_by(self, path: str) -> IgnorePattern | None:
        """The pattern that keeps a path out."""
        found, end = ROOT, 0
        while end != -1:
            end = path.find("/", end + 1)
            found = self.match(path if end == -1 else path[:end], found)
        return found.by

    def may_return(self, folder: str) -> bool:
        """Whether something in a folder that is kept out may stay in by an exception."""
        return any(pattern.is_exception and pattern.may_match_below(folder) for pattern in self.patterns)


def parse_ignore_file(content: bytes, file: Path) -> IgnoreFile:
    """The patterns of a .dockerignore file; what is wrong with it is among its findings."""
    notes, patterns = LineNotes(file), list[IgnorePattern]()
    if len(content) > MAX_IGNORE_BYTES:
        notes.add("FL940", f"the file is larger than {MAX_IGNORE_BYTES >> 10} KiB", None)
        return IgnoreFile(file, (), tuple(notes.findings))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        notes.add("FL940", "the file is not in UTF-8", line)
        return IgnoreFile(file, (), tuple(notes.findings))
    for number, written in enumerate(text.split("\n"), 1):
        if written.startswith("#"):
            continue
        try:
            pattern = parse_pattern(written, number)
        except PatternError as error:
            notes.add("FL940", f"Docker refuses the pattern {shown(written.strip())}: {error}", number)
            continue
        if pattern:
            patterns.append(pattern)
    return IgnoreFile(file, tuple(patterns), tuple(notes.findings))
