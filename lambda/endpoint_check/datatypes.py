"""Triton's data types in binary data, which is little-endian.

Source: Triton's documentation of the binary tensor data extension.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

BYTES, BF16 = "BYTES", "BF16"
FORMATS = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT16": "H",
    "UINT32": "I",
    "UINT64": "Q",
    "INT8": "b",
    "INT16": "h",
    "INT32": "i",
    "INT64": "q",
    "FP16": "e",
    "FP32": "f",
    "FP64": "d",
}
"""By the names of the struct module."""
_LENGTH = struct.Struct("<I")


def pack(datatype: str, values: Sequence[Any]) -> bytes:
    """The values as binary data; those of floating point as the nearest that the data type has."""
    if datatype == BYTES:
        texts = [value.encode() for value in values]
        return b"".join(_LENGTH.pack(len(text)) + text for text in texts)
    if datatype == BF16:
        return b"".join(_bf16(float(value)) for value in values)
    numbers = map(float, values) if datatype.startswith("FP") else values
    return struct.pack(f"<{len(values)}{FORMATS[datatype]}", *numbers)


def unpack(datatype: str, data: bytes) -> Iterator[Any]:
    """The values of binary data, one after the other: as a list they would take up to 40 times its memory.

    BYTES stay bytes. `count` checks first whether the data is complete.
    """
    if datatype == BYTES:
        return _elements(data)
    if datatype == BF16:
        return (struct.unpack("<f", b"\0\0" + half)[0] for (half,) in struct.iter_unpack("<2s", data))
    if datatype == "BOOL":
        return (byte != 0 for byte in data)
    return (value for (value,) in struct.iter_unpack(f"<{FORMATS[datatype]}", data))


def count(datatype: str, data: bytes) -> int:
    """How many values the binary data has.

    Raises:
        ValueError: it is cut off.
        KeyError: Triton has no such data type.
    """
    if datatype == BYTES:
        return sum(1 for _ in _elements(data))
    size = struct.calcsize("H" if datatype == BF16 else FORMATS[datatype])
    number, rest = divmod(len(data), size)
    if rest:
        raise ValueError(f"its last value has {rest} of {size} bytes")
    return number


def _bf16(value: float) -> bytes:
    """The nearest, ties to even; infinity and NaN as they are."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value == value and bits & 0x7FFFFFFF < 0x7F800000:
        bits += 0x7FFF + (bits >> 16 & 1)
    return struct.pack("<H", bits >> 16)


def _elements(data: bytes) -> Iterator[bytes]:
    offset = 0
    while offset < len(data):
        start = offset + _LENGTH.size
        if start > len(data):
            raise ValueError("it is cut off within a length")
        offset = start + _LENGTH.unpack_from(data, offset)[0]
        if offset > len(data):
            raise ValueError("it is cut off within an element")
        yield data[start:offset]
