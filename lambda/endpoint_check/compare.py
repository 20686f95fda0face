"""Compares outputs with the expectations of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from math import prod
from typing import Any

from .answer import Output
from .datatypes import BYTES, pack, unpack
from .sample import Sample, flatten

ANY_SIZE = -1
_MAX_CHARACTERS = 160
"""Of a value or a list in a message."""
_MAX_DIGITS = 17
"""The longest number of FP64 has so many."""


def difference(sample: Sample, outputs: Mapping[str, Output]) -> str | None:
    """The first difference from the sample, as a clause; None without any."""
    for name, expectation in sample.outputs.items():
        if name not in outputs:
            names = f"outputs {truncate(', '.join(outputs))}" if outputs else "no outputs"
            return f"output {name} is missing; the answer has {names}"
        problem = _tensor(expectation, outputs[name])
        if problem:
            return f"output {name}{problem}"
    return None


def _tensor(expectation: Mapping[str, Any], output: Output) -> str | None:
    datatype, shape = expectation.get("datatype", output.datatype), expectation.get("shape", output.shape)
    if datatype != output.datatype:
        return f" has datatype {output.datatype}, expected {datatype}"
    sizes = zip(shape, output.shape, strict=False)
    if len(shape) != len(output.shape) or any(ANY_SIZE != size != actual for size, actual in sizes):
        return f" has shape {truncate(output.shape)}, expected {truncate(shape)}"
    if "first" in expectation:
        return _values(
            expectation["first"], expectation, output, min(prod(output.shape), len(expectation["first"]))
        )
    return (
        _values(expectation["data"], expectation, output, prod(output.shape))
        if "data" in expectation
        else None
    )


def _values(data: Any, expectation: Mapping[str, Any], output: Output, size: int) -> str | None:
    """The first difference among the first `size` values, or None."""
    values: Sequence[Any] = flatten(data) if isinstance(data, list) else [data]
    values = list(unpack(output.datatype, pack(output.datatype, values)))
    if isinstance(data, list):
        if len(values) != size:
            return f" has {size} values, expected {len(values)}"
    elif not size and 0 not in expectation.get("shape", ()):
        value = _text(values[0], output.datatype)
        return f" has shape {truncate(output.shape)}, so no values; expected {value} throughout"
    tolerance, first, differences = expectation.get("tolerance", 0), None, 0
    # An answer has up to 26 million values: they are not stored, and equal ones cost one comparison.
    pairs = zip(values if isinstance(data, list) else repeat(values[0], size), output.values, strict=False)
    for index, (target, actual) in enumerate(pairs):
        if target != actual and not _is_near(target, actual, tolerance):
            first, differences = first or (index, target, actual), differences + 1
    if first is None:
        return None
    index, target, actual = first
    within = "" if output.datatype in (BYTES, "BOOL") else f" (tolerance {tolerance:.9g})"
    return (
        f"{_index(index, output.shape)} is {_text(actual, output.datatype)}, "
        f"expected {_text(target, output.datatype)}{within}; {differences} of {size} values differ"
    )


def _is_near(target: Any, actual: Any, tolerance: float) -> bool:
    """NaN is near NaN alone, and each infinity near itself alone."""
    if target == actual or (target != target and actual != actual):
        return True
    if isinstance(target, bytes) or abs(actual) == float("inf"):
        return False
    return bool(abs(actual - target) <= tolerance)


def _index(position: int, shape: list[int]) -> str:
    indices = []
    for axis in range(len(shape)):
        below = prod(shape[axis + 1 :])
        indices.append(position // below % shape[axis])
    return f"[{', '.join(map(str, indices))}]"


def _text(value: Any, datatype: str) -> str:
    """A number of floating point by the fewest digits that make the same one of its data type."""
    if isinstance(value, bytes):
        return truncate(repr(value.decode("utf-8", "backslashreplace")))
    if not isinstance(value, float):
        return str(value).lower()
    texts = (f"{value:.{digits}g}" for digits in range(1, _MAX_DIGITS))
    return next(
        (text for text in texts if _is_same(float(text), value, datatype)), f"{value:.{_MAX_DIGITS}g}"
    )


def _is_same(first: float, second: float, datatype: str) -> bool:
    try:
        return pack(datatype, [first]) == pack(datatype, [second])
    except OverflowError:  # rounded up, it is too large for the data type
        return False


def truncate(value: object) -> str:
    """The text of a value, or its beginning."""
    text = str(value)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
