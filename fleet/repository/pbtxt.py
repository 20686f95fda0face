"""Where the strings of a config.pbtxt stand: protobuf's text format, read as Triton's parser reads it.

Source: protobuf, src/google/protobuf/io/tokenizer.cc and text_format.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

CLOSING = {b"{": b"}", b"<": b">", b"[": b"]"}
TOKEN = re.compile(
    rb"""(?P<space>(?:[ \t\r\n\v\f]|\#[^\n]*)+)
    |(?P<string>"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*')
    |(?P<word>[A-Za-z0-9_.+]+(?:(?<=[eE])-[0-9]+[fF]?)?)
    |(?P<sign>[-{}<>\[\]:;,])""",
    re.VERBOSE,
)
ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
MAX_DEPTH = 100
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class PbtxtError(Exception):
    """A text is not in the format; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(problem)


@dataclass(frozen=True)
class Text:
    """A string: the names of the fields around it, what it says, its line, and where its last literal ends.

    `end` is an offset in bytes, just before the closing quotation mark.
    """

    path: tuple[str, ...]
    value: str
    line: int
    end: int


@dataclass(frozen=True)
class _Token:
    kind: str
    text: bytes
    start: int


Frame: TypeAlias = tuple[bytes, tuple[str, ...]]
"""What closes a message or a list that is open, and the path of what it holds."""


def strings(content: bytes) -> Iterator[Text]:
    """All strings of a file, in their order.

    Raises:
        PbtxtError: it is not in protobuf's text format.
    """
    return _Parser(content).strings()


class _Parser:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._tokens = list(self._read())
        self._next = 0

    def _read(self) -> Iterator[_Token]:
        at = len(BYTE_ORDER_MARK) if self._content.startswith(BYTE_ORDER_MARK) else 0
        while at < len(self._content):
            match = TOKEN.match(self._content, at)
            if match is None:
                raise self._error(
                    at, f"{self._content[at : at + 1].decode('latin-1')!r} does not belong here"
                )
            kind = str(match.lastgroup)
            if kind != "space":
                yield _Token(kind, match[0], at)
            at = match.end()
        yield _Token("end", b"", at)

    def strings(self) -> Iterator[Text]:
        open_: list[Frame] = [(b"", ())]
        while True:
            closing, path = open_[-1]
            if self._take(closing) if closing else self._at("end"):
                open_.pop()
                if not open_:
                    return
                self._end_of_field(open_[-1])
            elif closing == b"]":
                yield from self._value(path, open_)
            else:
                yield from self._field(path, open_)

    def _field(self, path: tuple[str, ...], open_: list[Frame]) -> Iterator[Text]:
        name = self._expect("word", "the name of a field")
        inner = (*path, name.text.decode())
        colon = self._take(b":")
        if not colon and self._peek.text not in CLOSING:
            raise self._error(self._peek.start, f"`:` is missing after {inner[-1]!r}")
        yield from self._value(inner, open_)

    def _value(self, path: tuple[str, ...], open_: list[Frame]) -> Iterator[Text]:
        if self._peek.text in CLOSING and not (self._peek.text == b"[" and open_[-1][0] == b"]"):
            opening = self._advance()
            open_.append((CLOSING[opening.text], path))
            if len(open_) > MAX_DEPTH:
                raise self._error(opening.start, f"it is nested deeper than {MAX_DEPTH} levels")
            return
        if self._at("string"):
            yield self._string(path)
        else:
            self._take(b"-")
            self._expect("word", "a value")
        self._end_of_field(open_[-1])

    def _string(self, path: tuple[str, ...]) -> Text:
        """Adjacent literals are one string."""
        first, value, end = self._peek, b"", 0
        while self._at("string"):
            token = self._advance()
            value += _unescaped(token.text[1:-1])
            end = token.start + len(token.text) - 1
        return Text(path, value.decode("utf-8", "surrogateescape"), self._line(first.start), end)

    def _end_of_field(self, frame: Frame) -> None:
        if frame[0] != b"]":
            _ = self._take(b";") or self._take(b",")
        elif self._peek.text != b"]" and (not self._take(b",") or self._peek.text == b"]"):
            raise self._error(self._peek.start, "the items of a list are parted by single commas")

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _at(self, kind: str) -> bool:
        return self._peek.kind == kind

    def _advance(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _take(self, sign: bytes) -> bool:
        taken = self._peek.kind == "sign" and self._peek.text == sign
        self._next += taken
        return taken

    def _expect(self, kind: str, what: str) -> _Token:
        if self._at(kind):
            return self._advance()
        found = repr(self._peek.text.decode("utf-8", "replace")) if self._peek.text else "the end"
        raise self._error(self._peek.start, f"{what} is expected, not {found}")

    def _line(self, at: int) -> int:
        return self._content.count(b"\n", 0, at) + 1

    def _error(self, at: int, problem: str) -> PbtxtError:
        return PbtxtError(self._line(at), problem)


def _unescaped(literal: bytes) -> bytes:
    return ESCAPE.sub(_escaped, literal)


def _escaped(match: re.Match[bytes]) -> bytes:
    octal, byte, short, long, letter = match.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if byte is not None:
        return bytes([int(byte, 16)])
    if letter is not None:
        return LETTERS.get(letter, letter)
    point = int(short or long, 16)
    return chr(point).encode("utf-8", "surrogatepass") if point <= 0x10FFFF else bytes(match[0])
