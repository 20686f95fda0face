"""One pattern of a .dockerignore file, matched in time that is linear in the path.

Sources: https://docs.docker.com/build/concepts/context/#dockerignore-files and
https://pkg.go.dev/path/filepath#Match. Where they leave a case open, it is as in moby/patternmatcher:
`**` before other signs spans any folders, at the end all that follows; before plain text at the very
beginning it is any text.

A pattern becomes the states of an automaton, kept as the bits of a number, which reads each path once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

SPECIAL = frozenset("*?[\\")
MAX_PATTERN_CHARACTERS = 1024


class PatternError(ValueError):
    """A pattern that Docker refuses."""


@dataclass(frozen=True)
class PatternStep:
    """One step of the automaton.

    Attributes:
        takes: The characters that lead to the next step.
        stays: The characters that lead to this step again.
        skips: How many steps ahead it moves without a character.
    """

    takes: Callable[[str], bool]
    stays: Callable[[str], bool] | None = None
    skips: tuple[int, ...] = ()


@dataclass(frozen=True)
class IgnorePattern:
    """One line: `text` is its pattern without `!`; `is_exception` whether it had one."""

    text: str
    line: int
    is_exception: bool = False

    def matches(self, path: str) -> bool:
        """Whether it matches a path from the context's root, without regard to the folders around it."""
        if self._is_plain:
            return path == self.text
        return bool(self._states(path) >> len(self._steps) & 1)

    def may_match_below(self, folder: str) -> bool:
        """Whether it may match anything in a folder."""
        if self._is_plain:
            return self.text.startswith(f"{folder}/")
        return bool(self._states(f"{folder}/"))

    @property
    def shown(self) -> str:
        """As the file has it."""
        return f"!{self.text}" if self.is_exception else self.text

    @cached_property
    def _is_plain(self) -> bool:
        return SPECIAL.isdisjoint(self.text)

    @cached_property
    def _steps(self) -> tuple[PatternStep, ...]:
        return tuple(_steps(self.text))

    @cached_property
    def _skipping(self) -> list[tuple[int, int]]:
        """The bit of each step that is left without a character, and the bits that it leads to."""
        return [
            (1 << at, sum(1 << (at + skip) for skip in step.skips))
            for at, step in enumerate(self._steps)
            if step.skips
        ]

    @cached_property
    def _moves(self) -> dict[str, tuple[int, int]]:
        return {}

    def _states(self, path: str) -> int:
        states = self._skipped(1)
        for character in path:
            moves = self._moves.get(character)
            if moves is None:
                moves = self._moves[character] = self._bits(character)
            takes, stays = moves
            states = self._skipped(((states & takes) << 1) | (states & stays))
            if not states:
                break
        return states

    def _skipped(self, states: int) -> int:
        for bit, ahead in self._skipping:  # skips lead ahead only, so one pass is enough
            if states & bit:
                states |= ahead
        return states

    def _bits(self, character: str) -> tuple[int, int]:
        takes = stays = 0
        for at, step in enumerate(self._steps):
            takes |= step.takes(character) << at
            stays |= (step.stays is not None and step.stays(character)) << at
        return takes, stays


def parse_pattern(text: str, line: int) -> IgnorePattern | None:
    """The pattern of a line that is not a comment; None for an empty one.

    Raises:
        PatternError: Docker would refuse it.
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
    pattern = IgnorePattern(text, line, is_exception)
    for _ in _steps(text):
        pass
    return pattern


def _steps(text: str) -> Iterator[PatternStep]:
    at = 0
    if text.startswith("**") and len(text) > 2 and text[2] != "/" and SPECIAL.isdisjoint(text[2:]):
        yield _ALL
        at = 2
    while at < len(text):
        character = text[at]
        at += 1
        if text.startswith("**", at - 1):
            at += 2 if text.startswith("/", at + 1) else 1
            if at >= len(text):
                yield _ALL
            else:
                yield from _FOLDERS
        elif character == "*":
            yield _IN_NAME
        elif character == "?":
            yield PatternStep(_is_in_name)
        elif character == "[":
            takes, at = _character_class(text, at)
            yield PatternStep(takes)
        else:
            if character == "\\":
                if at == len(text):
                    raise PatternError("it ends with a backslash, which makes the next character plain")
                character, at = text[at], at + 1
            yield PatternStep(character.__eq__)


def _character_class(text: str, at: int) -> tuple[Callable[[str], bool], int]:
    """The characters of a class, and where the pattern continues."""
    is_negated = text.startswith("^", at)
    at += is_negated
    ranges = list[tuple[str, str]]()
    while not ranges or not text.startswith("]", at):
        first, at = _class_character(text, at)
        last = first
        if text.startswith("-", at):
            last, at = _class_character(text, at + 1)
        if last < first:
            raise PatternError(f"the range {first}-{last} is empty")
        ranges.append((first, last))
    return lambda character: any(a <= character <= b for a, b in ranges) != is_negated, at + 1


def _class_character(text: str, at: int) -> tuple[str, int]:
    escaped = text.startswith("\\", at)
    at += escaped
    if at >= len(text) or (not escaped and text[at] in "-]"):
        raise PatternError("a class of characters is not closed, or begins with `-` or `]`")
    return text[at], at + 1


def _is_in_name(character: str) -> bool:
    return character != "/"


def _is_any(_: str) -> bool:
    return True


def _is_none(_: str) -> bool:
    return False


_IN_NAME = PatternStep(_is_none, _is_in_name, (1,))
_ALL = PatternStep(_is_none, _is_any, (1,))
_FOLDERS = (PatternStep(_is_none, None, (1, 2)), PatternStep("/".__eq__, _is_any))
