"""Triton's data types as values of a spec: which values each has.

Source: KServe, Open Inference Protocol v2, tensor data types; Triton adds BF16. Our YAML has decimal numbers
alone, which is why NaN and the infinities are texts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Datatype(StrEnum):
    """By their names in the protocol."""

    BOOL = "BOOL"
    UINT8 = "UINT8"
    UINT16 = "UINT16"
    UINT32 = "UINT32"
    UINT64 = "UINT64"
    INT8 = "INT8"
    INT16 = "INT16"
    INT32 = "INT32"
    INT64 = "INT64"
    FP16 = "FP16"
    FP32 = "FP32"
    FP64 = "FP64"
    BF16 = "BF16"
    BYTES = "BYTES"

    @property
    def is_float(self) -> bool:
        """Whether its values are fractions, which are rounded and may be NaN."""
        return self in _FLOATS

    @property
    def in_config(self) -> str:
        """Its name in a config.pbtxt."""
        return "TYPE_STRING" if self is Datatype.BYTES else f"TYPE_{self.value}"

    @property
    def bytes(self) -> int:
        """The size of an element in a request; of BYTES that of its length alone."""
        if self is Datatype.BOOL:
            return 1
        return 4 if self is Datatype.BYTES else int("".join(filter(str.isdigit, self.value))) // 8

    def problem(self, value: object) -> str | None:
        """Why a value is not of the data type, as a clause; None if it is."""
        if self is Datatype.BYTES:
            return None if isinstance(value, str) else "is not text; put it in quotes"
        if self is Datatype.BOOL:
            return None if isinstance(value, bool) else "is neither true nor false"
        if self.is_float:
            return self._wrong_float(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return "is not a whole number"
        is_unsigned = self.value.startswith("U")
        bits = 8 * self.bytes - (not is_unsigned)
        low, high = 0 if is_unsigned else -(1 << bits), (1 << bits) - 1
        return None if low <= value <= high else f"is not from {low} to {high}"

    def _wrong_float(self, value: object) -> str | None:
        if isinstance(value, str):
            names = ", ".join(f'"{name}"' for name in NOT_FINITE)
            return None if value in NOT_FINITE else f"is not a number or one of {names}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "is not a number"
        try:
            bits = int.from_bytes(struct.pack(_FLOATS[self], value), "little")
        except (OverflowError, struct.error):
            return "is too large"
        return "is too large" if self is Datatype.BF16 and bits & ~_SIGN >= _BEYOND_BF16 else None


_FLOATS: Mapping[Datatype, str] = MappingProxyType(
    {Datatype.FP16: "<e", Datatype.FP32: "<f", Datatype.FP64: "<d", Datatype.BF16: "<f"}
)
"""With what Python packs the largest number of each."""
_SIGN, _BEYOND_BF16 = 0x8000_0000, 0x7F7F_8000
"""Bits of FP32: from the second number on the nearest BF16 is infinite, with ties to even."""
NOT_FINITE: Mapping[str, float] = MappingProxyType(
    {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
)
"""The values of floating point that no decimal number is."""
