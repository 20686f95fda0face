"""Escapes in strings, as Triton's parser reads them.

Source: protobuf, src/google/protobuf/io/tokenizer.cc.
"""

from __future__ import annotations

import re

ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def unescaped(literal: bytes) -> bytes:
    """What a literal without its quotation marks says."""
    return ESCAPE.sub(_escaped, literal) if b"\\" in literal else literal


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
