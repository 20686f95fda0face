"""The tokens of protobuf's text format.

A token is what Python's protobuf reads as one, because its verdict on a file counts.

Source: protobuf, python/google/protobuf/text_format.py and src/google/protobuf/io/tokenizer.cc.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

TOKEN = re.compile(
    rb"""[ \t\r\n\v\f]*+(?:
      (?P<comment>\#[^\n]*+)
    | (?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+')
    | (?P<word>[A-Za-z_][A-Za-z0-9_+-]*+|(?:[0-9+-]|\.[0-9])[A-Za-z0-9_.+-]*+)
    | (?P<sign>[{}<>\[\]:;,])
    | (?P<end>\Z)
    | (?P<character>[\xc2-\xf4][\x80-\xbf]*+|.)
    )""",
    re.VERBOSE | re.DOTALL,
)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class PbtxtError(Exception):
    """A text is not in the format; `line` and `column` count from 1, and a column may be unknown."""

    def __init__(self, line: int, problem: str, column: int | None = None) -> None:
        self.line, self.column = line, column
        super().__init__(problem)


class Tokens:
    """All of a file, by number: kinds of tokens and their offsets in bytes, without comments.

    A sign is a kind of its own; the others are `word`, `string` and, once, `end`. The parts of a token are in
    lists of their own, because a million objects would keep Python's garbage collection busy.

    Raises:
        PbtxtError: there is a character that no token begins with.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.kinds: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        begin = len(BYTE_ORDER_MARK) if content.startswith(BYTE_ORDER_MARK) else 0
        for match in TOKEN.finditer(content, begin):
            kind = str(match.lastgroup)
            start, end = match.span(kind)
            if kind == "comment":
                continue
            if kind != "character":
                self._add(chr(content[start]) if kind == "sign" else kind, start, end)
                if kind == "end":
                    break
            elif not self._is_blank(start, end):
                self._add("word", start, end)

    def text(self, number: int) -> bytes:
        """A token as it is written."""
        return self.content[self.starts[number] : self.ends[number]]

    def error(self, number: int, problem: str) -> PbtxtError:
        """The error of a token."""
        return PbtxtError(self.line(self.starts[number]), problem)

    def line(self, at: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._line_starts, at)

    def column(self, at: int) -> int:
        """The column of an offset, from 1, in characters."""
        text = self.content[self._line_starts[self.line(at) - 1] : at]
        return len(text.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")) + 1

    def _add(self, kind: str, start: int, end: int) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)

    def _is_blank(self, start: int, end: int) -> bool:
        """To Python's protobuf all blanks of Unicode are blanks, and a digit of any script is a number."""
        character = self.content[start:end].decode("utf-8", "replace")
        if not character.isspace() and not character.isdecimal():
            raise PbtxtError(self.line(start), f"{character!r} does not belong here")
        return character.isspace()

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(b"\n", self.content))]


ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def unescape(literal: bytes) -> bytes:
    """The value of a literal that is given without its quotation marks."""
    return ESCAPE.sub(_escape, literal) if b"\\" in literal else literal


def _escape(match: re.Match[bytes]) -> bytes:
    octal, byte, short, long, letter = match.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if byte is not None:
        return bytes([int(byte, 16)])
    if letter is not None:
        return LETTERS.get(letter, letter)
    point = int(short or long, 16)
    return chr(point).encode("utf-8", "surrogatepass") if point <= 0x10FFFF else bytes(match[0])
