r"""Text of files and names of others, made safe for a terminal and a CI log.

GitHub's runner reads a line as a command if `::` begins it, white space aside, and `##[` anywhere in it.
Source: actions/runner, src/Runner.Common/ActionCommand.cs (TryParseV2 and TryParse).
"""

from __future__ import annotations

import re

CONTINUATION = "\n    | "
"""Begins each line of a text but its first: none of them can pass for a line of ours, or for a command."""
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What is printable to Python and invisible to people: letters and marks of Default_Ignorable_Code_Point."""
BEFORE_BRACKET = "##"


def visible(text: str) -> str:
    r"""The text with everything that does not print as `\x1b`, `\u202e` or the like.

    Control characters drive the terminal, and marks of direction show another order than there is.
    Python's `str.isprintable` counts both among what does not print, and every space but the plain one.
    """
    if not text.isprintable():
        text = "".join(character if character.isprintable() else _escape(character) for character in text)
    return INVISIBLE.sub(lambda match: _escape(match[0]), text)


def powerless(text: str) -> str:
    """The text in visible characters, in which no line is a command to a CI runner; line feeds stay."""
    return LineGuard().clean(text)


def indent_lines(text: str) -> str:
    """A text of several lines in visible characters, each of which but the first begins with `    | `."""
    return CONTINUATION.join(visible(line) for line in text.split("\n"))


def printable_json(text: str) -> str:
    """The same JSON with escapes for all that does not print or that a CI runner would read as a command."""
    result = "".join(
        character if character.isprintable() or character == "\n" else _of_json(character)
        for character in text
    )
    result = INVISIBLE.sub(lambda match: _of_json(match[0]), result)
    return result.replace(f"{BEFORE_BRACKET}[", f"{BEFORE_BRACKET}\\u005b")


class LineGuard:
    """Passes text on, piece by piece, as `powerless` does with a whole one."""

    def __init__(self) -> None:
        self._start = self._end = ""
        """The present line's first two characters after leading spaces, and its last two."""

    def clean(self, piece: str) -> str:
        """The piece without power."""
        return "".join(map(self._character, piece))

    def _character(self, character: str) -> str:
        if character == "\n":
            self._start = self._end = ""
            return character
        is_command = (self._start + character == "::") or (self._end + character == f"{BEFORE_BRACKET}[")
        self._start = (self._start + character).lstrip(" ")[:2]
        self._end = (self._end + character)[-len(BEFORE_BRACKET) :]
        return f"\\x{ord(character):02x}" if is_command else visible(character)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _of_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
