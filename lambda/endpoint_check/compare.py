"""Whether outputs are what a sample wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from math import prod
from typing import Any

from .answer import Output
from .datatypes import BYTES, packed, unpacked
from .sample import Sample, flat

ANY = -1
_MOST = 160
"""Characters of a value or a list that are told."""
_DIGITS = 17
"""Of the longest number of FP64."""


def difference(sample: Sample, outputs: Mapping[str, Output]) -> str | None:
    """The first thing that is not as wanted, as a clause; None where everything is."""
    for name, wanted in sample.outputs.items():
        if name not in outputs:
            others = f"outputs {cut(', '.join(outputs))}" if outputs else "no outputs"
            return f"output {name} is missing; the answer has {others}"
        problem = _tensor(wanted, outputs[name])
        if problem:
            return f"output {name}{problem}"
    return None


def _tensor(wanted: Mapping[str, Any], got: Output) -> str | None:
    datatype, shape = wanted.get("datatype", got.datatype), wanted.get("shape", got.shape)
    if datatype != got.datatype:
        return f" has datatype {got.datatype}, expected {datatype}"
    sizes = zip(shape, got.shape, strict=False)
    if len(shape) != len(got.shape) or any(ANY != size != there for size, there in sizes):
        return f" has shape {cut(got.shape)}, expected {cut(shape)}"
    if "first" in wanted:
        return _values(wanted["first"], wanted, got, min(prod(got.shape), len(wanted["first"])))
    return _values(wanted["data"], wanted, got, prod(got.shape)) if "data" in wanted else None


def _values(data: Any, wanted: Mapping[str, Any], got: Output, size: int) -> str | None:
    """The first difference among the first `size` values, or None."""
    values: Sequence[Any] = flat(data) if isinstance(data, list) else [data]
    values = list(unpacked(got.datatype, packed(got.datatype, values)))
    if isinstance(data, list):
        if len(values) != size:
            return f" has {size} values, expected {len(values)}"
    elif not size and 0 not in wanted.get("shape", ()):
        value = _told(values[0], got.datatype)
        return f" has shape {cut(got.shape)}, so no values; expected {value} throughout"
    tolerance, first, off = wanted.get("tolerance", 0), None, 0
    # An answer has up to 26 million values: they are neither kept nor, where they are equal, passed on.
    pairs = zip(values if isinstance(data, list) else repeat(values[0], size), got.values, strict=False)
    for index, (expected, actual) in enumerate(pairs):
        if expected != actual and not _is_near(expected, actual, tolerance):
            first, off = first or (index, expected, actual), off + 1
    if first is None:
        return None
    index, expected, actual = first
    within = "" if got.datatype in (BYTES, "BOOL") else f" (tolerance {tolerance:.9g})"
    return (
        f"{_index(index, got.shape)} is {_told(actual, got.datatype)}, "
        f"expected {_told(expected, got.datatype)}{within}; {off} of {size} values differ"
    )


def _is_near(wanted: Any, got: Any, tolerance: float) -> bool:
    """NaN is near NaN alone, and each infinity near itself alone."""
    if wanted == got or (wanted != wanted and got != got):
        return True
    return not isinstance(wanted, bytes) and bool(abs(got - wanted) <= tolerance) and abs(got) != float("inf")


def _index(flat_index: int, shape: list[int]) -> str:
    indices = []
    for axis in range(len(shape)):
        below = prod(shape[axis + 1 :])
        indices.append(flat_index // below % shape[axis])
    return f"[{', '.join(map(str, indices))}]"


def _told(value: Any, datatype: str) -> str:
    """A number of floating point by the fewest digits that make the same one of its data type."""
    if isinstance(value, bytes):
        return cut(repr(value.decode("utf-8", "backslashreplace")))
    if not isinstance(value, float):
        return str(value).lower()
    texts = (f"{value:.{digits}g}" for digits in range(1, _DIGITS))
    return next((text for text in texts if _is_same(float(text), value, datatype)), f"{value:.{_DIGITS}g}")


def _is_same(one: float, other: float, datatype: str) -> bool:
    try:
        return packed(datatype, [one]) == packed(datatype, [other])
    except OverflowError:  # rounded up, it is no number of that data type
        return False


def cut(value: object) -> str:
    """The text of a value, or its beginning."""
    text = str(value)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
