"""A .dockerignore file: which paths of a folder stay out of the build context, and by which line.

Sources: https://docs.docker.com/build/concepts/context/#dockerignore-files (the last line that matches a
path, or a folder around it, decides) and https://pkg.go.dev/path/filepath#Match. Where they leave a case
open, it is as in moby/patternmatcher: `**` before other signs spans any folders, at the end all that follows;
before plain text at the very beginning it is any text. No library decides so: docs/decisions/0066.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from triton_fleet.builds.images.lines import LineNotes, quote
from triton_fleet.findings import Finding

MAX_IGNORE_BYTES = 64 << 10
MAX_PATTERN_CHARACTERS = 1024
MAX_SPANS_INSIDE_NAMES = 2
"""`**` that follow a part of a name: each multiplies how often a path is tried."""
SPECIAL = frozenset("*?[\\")
_CHARACTER = r"(?:\\.|[^\\\]-])"
_RANGE = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<folders>\*\*/?)|(?P<name>\*)|(?P<one>\?)|\[(?P<negated>\^?)(?P<ranges>(?:{_RANGE.pattern})+)\]"
    r"|\\(?P<escaped>.)|(?P<plain>[^\\\[*?])",
    re.DOTALL,
)
_NAME, _FOLDERS = "[^/]*", "(?:[^/]*/)*?"


class PatternError(ValueError):
    """A pattern that Docker refuses, or that would take too long."""


@dataclass(frozen=True)
class IgnorePattern:
    """One line: `text` is its pattern without `!`; `is_exception` whether it had one."""

    text: str
    line: int
    is_exception: bool = False

    def matches(self, path: str) -> bool:
        """Whether it matches a path from the context's root, without regard to the folders around it."""
        return path == self.text if SPECIAL.isdisjoint(self.text) else bool(self._regex.fullmatch(path))

    def may_match_below(self, folder: str) -> bool:
        """Whether it may match anything in a folder."""
        names = folder.split("/")
        is_deep = "**" in self.text or len(names) <= self.text.count("/")
        return is_deep and all(map(re.Pattern.fullmatch, self._first_names, names))

    @property
    def source_text(self) -> str:
        """As the file has it."""
        return f"!{self.text}" if self.is_exception else self.text

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(_expression(self.text), re.DOTALL)

    @cached_property
    def _first_names(self) -> list[re.Pattern[str]]:
        """The names of folders that it begins with, up to the first sign that may stand for a slash."""
        head = re.split(r"\*\*|[\[\\]", self.text)[0]
        return [re.compile(_expression(name), re.DOTALL) for name in head.split("/")[:-1]]


def parse_pattern(text: str, line: int) -> IgnorePattern | None:
    """The pattern of a line that is not a comment; None for an empty one.

    Raises:
        PatternError: Docker would refuse it, or it would take too long to match.
    """
    text = text.strip()
    is_exception = text.startswith("!")
    text = text[is_exception:].strip()
    if not text:
        if is_exception:
            raise PatternError("`!` stands alone")
        return None
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise PatternError(f"it has more than {MAX_PATTERN_CHARACTERS} characters")
    # Two slashes at the beginning mean something to POSIX, but not to Go.
    text = posixpath.normpath(f"/{text.lstrip('/')}" if text.startswith("/") else text)
    text = text.removeprefix("/") if len(text) > 1 else text
    _expression(text)
    return IgnorePattern(text, line, is_exception)


def _expression(text: str) -> str:
    """A pattern as a regular expression, as moby translates it.

    Go's expressions take linear time, and Python's try again. So a part is atomic (`(?>...)`) where its first
    match is as good as any other: up to the next `*`, and up to a `**` at the beginning of a name.
    """
    if text.startswith("**") and text[2:3] not in ("", "/") and SPECIAL.isdisjoint(text[2:]):
        return f".*{re.escape(text[2:])}"
    *segments, last = _segments(text)
    is_open = bool(segments) and not last
    expression, is_after_folders, inside_names = "", False, 0
    for tokens in segments:
        if not tokens and is_after_folders:
            continue
        part = (_FOLDERS if is_after_folders else "") + _names(tokens)
        is_aligned = (is_open and tokens is segments[-1]) or not tokens or tokens[-1] == "/"
        inside_names += not is_aligned
        expression += f"(?>{part})" if is_aligned else part
        is_after_folders = True
    if inside_names > MAX_SPANS_INSIDE_NAMES:
        raise PatternError(f"more than {MAX_SPANS_INSIDE_NAMES} `**` follow a part of a name")
    return expression + (".*" if is_open else (_FOLDERS if segments else "") + _names(last))


def _segments(text: str) -> list[list[str]]:
    """The tokens between the `**` of a pattern, as regular expressions; one of a plain sign is that sign."""
    segments, at = [list[str]()], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            problem = "a class of characters is not closed, or begins with `-` or `]`"
            escape = "it ends with a backslash, which makes the next character plain"
            raise PatternError(problem if text[at] == "[" else escape)
        at = match.end()
        if match["folders"]:
            segments.append([])
        elif match["ranges"]:
            segments[-1].append(_character_class(match["negated"], match["ranges"]))
        else:
            wildcard = (match["name"] and _NAME) or (match["one"] and "[^/]")
            segments[-1].append(wildcard or re.escape(match["escaped"] or match["plain"]))
    return segments


def _character_class(negation: str, ranges: str) -> str:
    """A class of characters; unlike Docker's, it never matches a slash."""
    expression = ""
    for match in _RANGE.finditer(ranges):
        first, last = match[1][-1], (match[2] or match[1])[-1]
        if last < first:
            raise PatternError(f"the range {first}-{last} is empty")
        expression += f"{re.escape(first)}-{re.escape(last)}"
    return f"(?!/)[{negation}{expression}]"


def _names(tokens: Sequence[str]) -> str:
    """Tokens without a `**` as one expression."""
    chunks = [""]
    for token in tokens:
        if token == _NAME:
            chunks.append("")
        else:
            chunks[-1] += token
    first, *later_chunks = chunks
    middle = "".join(f"(?>{_NAME}?{chunk})" for chunk in later_chunks[:-1])
    return first + middle + "".join(_NAME + chunk for chunk in later_chunks[-1:])


@dataclass(frozen=True)
class IgnoreMatch:
    """The patterns that match one path.

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
        """The match of a path; `around` is that of its folder."""
        bits, by = 0, None
        for number, pattern in enumerate(self.patterns):
            bit = around.patterns & (1 << number) or pattern.matches(path) << number
            bits |= bit
            if bit and pattern.is_exception:
                by = None
            elif bit and by is None:
                by = pattern
        return IgnoreMatch(bits, by)

    def ignored_by(self, path: str) -> IgnorePattern | None:
        """The pattern that keeps a path out."""
        match, end = ROOT, 0
        while end != -1:
            end = path.find("/", end + 1)
            match = self.match(path if end == -1 else path[:end], match)
        return match.by

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
    for number, text_line in enumerate(text.split("\n"), 1):
        if text_line.startswith("#"):
            continue
        try:
            pattern = parse_pattern(text_line, number)
        except PatternError as error:
            notes.add("FL940", f"Docker refuses the pattern {quote(text_line.strip())}: {error}", number)
            continue
        if pattern:
            patterns.append(pattern)
    return IgnoreFile(file, tuple(patterns), tuple(notes.findings))
