"""Tensors of byte strings: each element with its length, four bytes little-endian, in front."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fleet_client.codec.datatypes import Array
from fleet_client.errors import AnswerError, PayloadError

_LENGTH = struct.Struct("<I")


def elements(name: str, array: Array) -> Iterator[bytes]:
    """The elements of an array in row-major order, text as UTF-8; of `S` arrays numpy cuts zero bytes off.

    Raises:
        PayloadError: one is neither text nor bytes, or is text that UTF-8 cannot hold.
    """
    for element in array.ravel().tolist():
        if isinstance(element, bytes):
            yield element
        elif isinstance(element, str):
            try:
                yield element.encode()
            except UnicodeEncodeError as error:
                raise PayloadError(f"input {name!r} holds {element!r}, which is not Unicode text") from error
        else:
            kind = type(element).__name__
            raise PayloadError(
                f"input {name!r} is an array of objects and holds {kind} {element!r}: BYTES are str or bytes;"
                " give numbers a dtype of their own"
            )


def packed(strings: Iterable[bytes]) -> bytes:
    """The strings as they are in a binary payload."""
    return b"".join(part for string in strings for part in (_LENGTH.pack(len(string)), string))


def unpacked(name: str, data: memoryview) -> Array:
    """The strings of a binary payload, as a flat array of bytes objects.

    Raises:
        AnswerError: a length reaches beyond the data.
    """
    strings: list[bytes] = []
    at = 0
    while at < len(data):
        start = at + _LENGTH.size
        at = start + (_LENGTH.unpack_from(data, at)[0] if start <= len(data) else 0)
        if at > len(data):
            raise AnswerError(f"output {name!r} is cut off within its element {len(strings)}")
        strings.append(bytes(data[start:at]))
    return objects(strings)


def objects(values: Sequence[object]) -> Array:
    """A flat array of Python objects, none of them taken apart."""
    array = np.empty(len(values), dtype=np.object_)
    array[:] = values
    return array
