"""Triton's data types and numpy's; byte strings with their lengths in front."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fleet_client.errors import AnswerError, PayloadError

Array: TypeAlias = npt.NDArray[Any]

BYTES = "BYTES"
BF16 = "BF16"
"""numpy has no such type; answers of it become FP32, which holds all its values."""
NUMPY: Mapping[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    **{f"UINT{8 * size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)},
    **{f"INT{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
    **{f"FP{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
}
"""The data types of fixed size as they are in a payload: little-endian."""
NOT_IN_JSON = {"FP16", BF16}
"""Triton 24.10 answers 400, "receiving FP16 data via JSON is not supported", and the same for sending."""
_TRITON = {(dtype.kind, dtype.itemsize): name for name, dtype in NUMPY.items()}
_SAFE_KINDS = {"b": "b", "u": "ui", "i": "ui", "f": "fui"}


def datatype_of(array: Array) -> str | None:
    """Triton's data type for an array of any byte order; text, bytes and objects are BYTES.

    None where Triton has no such type (complex numbers, dates, structures, long doubles).
    """
    if array.dtype.kind in "OSU":
        return BYTES
    return _TRITON.get((array.dtype.kind, array.dtype.itemsize))


def fit_array(array: Array, datatype: str) -> Array:
    """The same numbers in another data type; fractions may be rounded, as FP32 does 0.1.

    Raises:
        ValueError: they are of another kind, as 1.5 or true for INT32, or any number for BYTES; or they are
            beyond the data type's range.
    """
    dtype = NUMPY.get(datatype, np.dtype(np.object_))
    if not array.size:
        return array.astype(dtype)
    if array.dtype.kind not in _SAFE_KINDS.get(dtype.kind, ""):
        kind = "not numbers of 64 bits" if array.dtype.kind == "O" else array.dtype
        raise ValueError(f"they are {kind}")
    if dtype.kind in "ui":
        limits, low, high = np.iinfo(dtype), int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise ValueError(f"they reach from {low} to {high}")
    with np.errstate(over="raise"):
        try:
            return array.astype(dtype)
        except FloatingPointError as error:
            raise ValueError("one of them would become infinite") from error


def from_list(values: object, datatype: str) -> Array:
    """The numbers of JSON's nested lists in a data type of fixed size.

    Raises:
        ValueError: they are ragged, of another kind, or beyond the data type's range.
    """
    try:
        array = np.array(values)
    except OverflowError as error:
        raise ValueError("they are not numbers of 64 bits") from error
    if datatype == "UINT64" and array.dtype.kind == "f":
        # numpy's guess for integers on both sides of 2**63, which float64 would round.
        elements = np.array(values, dtype=np.object_)
        if all(type(element) is int and 0 <= element < 2**64 for element in elements.ravel().tolist()):
            return elements.astype(NUMPY[datatype])
    return fit_array(array, datatype)


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


def pack_strings(strings: Iterable[bytes]) -> bytes:
    """The strings as they are in a binary payload."""
    return b"".join(part for string in strings for part in (_LENGTH.pack(len(string)), string))


def unpack_strings(name: str, data: memoryview) -> Array:
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
