"""A text as Triton's parser reads it, written so that Python's protobuf reads it alike.

Both are of one grammar, and differ at its edges: tried with Triton 24.10 (tests/e2e/agreement).

Source: protobuf, src/google/protobuf/io/tokenizer.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.repository.text_format.tokens import TOKEN, PbtxtError, unescape

NUMBER_AND_WORD = re.compile(rb"-?[0-9][0-9a-fA-FxX.]*+_")
SUSPECT = re.compile(
    rb"[^\t-\r -~]|\\|\+|-\s|(?:(?<![\w+-])-|(?<![\w.+-]))[0-9][0-9a-fA-FxX.]*+_",
)
"""All that the two read otherwise; most files have none of it. A word such as `INPUT0__0` is not a number."""
ESCAPE = re.compile(
    rb"\\(?:[abfnrtv\\'\"?]|[0-7]|x[0-9a-fA-F]|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})"
)
TWO_SIGNS = "Expected integer, got: -"
NUL, MINUS = b"\0", b"-"


def for_python(content: bytes) -> str:
    """The text with the same lines; signs stand at their numbers, and what is not UTF-8 is replaced.

    Raises:
        PbtxtError: Triton refuses what Python's protobuf would take.
    """
    if not SUSPECT.search(content):
        return content.decode("ascii")
    return b"".join(_pieces(content)).decode("utf-8", "replace")


def _pieces(content: bytes) -> Iterator[bytes]:
    at, sign = 0, b""
    for match in TOKEN.finditer(content):
        kind = str(match.lastgroup)
        start, end = match.span(kind)
        token = content[start:end]
        if problem := _problem(kind, token) or (TWO_SIGNS if sign and token == MINUS else ""):
            raise PbtxtError(
                content.count(b"\n", 0, start) + 1, problem, start - content.rfind(b"\n", 0, start)
            )
        yield content[at:start]
        if token == MINUS:
            sign = token
        else:
            yield sign + (_readable(token) if kind == "string" else token)
            sign = b""
        at = end
    yield sign + content[at:]


def _problem(kind: str, token: bytes) -> str:
    """The tokenizer's message for a token that only Python accepts; "" for any other."""
    match kind:
        case "comment" if NUL in token:
            return "Invalid control characters encountered in text."
        case "string" if NUL in token:
            return "Unexpected end of string."
        case "string" if b"\\" in ESCAPE.sub(b"", token):
            return "Invalid escape sequence in string literal."
        case "word" if token.startswith(b"+"):
            return "Expected integer, got: +"
        case "word" if NUMBER_AND_WORD.match(token):
            return "Need space between number and identifier."
        case "character" if token[0] > 0x7F:
            return f"Interpreting non ascii codepoint {token[0]}."
        case "character" if token[0] < 0x20:
            return "Invalid control characters encountered in text."
    return ""


def _readable(literal: bytes) -> bytes:
    """A literal of the same value in UTF-8; the literal itself if it is UTF-8 already."""
    message = unescape(literal[1:-1])
    try:
        message.decode()
        literal.decode()
    except UnicodeDecodeError:
        text = message.decode("utf-8", "replace")
        return '"{}"'.format("".join(_quote(character) for character in text)).encode()
    return literal


def _quote(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else "".join(f"\\{byte:03o}" for byte in character.encode())
