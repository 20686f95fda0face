"""The arguments of one operator, each of which has to be known to the stand-in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from fleet_emulator.stand_ins.triton.dali.images import MAX_SIDE
from fleet_emulator.stand_ins.triton.dali.pipeline_file import Operator, Value

WITHOUT_EFFECT = {
    *("device", "preserve_name", "seed", "bytes_per_sample_hint", "hw_decoder_load", "memory_stats"),
    *("device_memory_padding", "device_memory_padding_jpeg2k", "hybrid_huffman_threshold"),
    *("host_memory_padding", "host_memory_padding_jpeg2k"),
    *("preallocate_height_hint", "preallocate_width_hint"),
}
"""Arguments of where and how fast an operator computes, and not what; as all that begin with `_`."""


class UnknownToStandInError(Exception):
    """What of a pipeline the stand-in does not know, by name."""


class Arguments:
    """Takes the arguments one after the other; `end` refuses those that nobody has taken.

    All methods raise UnknownToStandInError for what is not known.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator = operator.name
        for name in operator.argument_inputs:
            raise UnknownToStandInError(
                f"argument {name!r} of operator {self._operator}, computed by another"
            )
        self._left = {
            name: value
            for name, value in operator.arguments.items()
            if name not in WITHOUT_EFFECT and not name.startswith("_")
        }

    def one_of(self, name: str, default: Value, *others: Value) -> Value:
        """A value that has to be one of those."""
        value = self._left.pop(name, default)
        if value != default and value not in others:
            self._refuse(name, value)
        return value

    def numbers(self, name: str, default: Sequence[float], *lengths: int) -> list[float]:
        """Finite numbers, as many as one of the lengths; a single one stands for a list of one."""
        value = self._left.pop(name, None)
        if value is None:
            return list(default)
        values = value if isinstance(value, list) else [value]
        numbers = [value for value in values if isinstance(value, int | float) and math.isfinite(value)]
        if len(numbers) != len(values) or len(values) not in lengths:
            self._refuse(name, value)
        return [float(number) for number in numbers]

    def pixels(self, name: str, *, count: int) -> list[int]:
        """Lengths in pixels: `count` of them, all given, whole, above 0 and up to MAX_SIDE."""
        if name not in self._left:
            raise UnknownToStandInError(f"operator {self._operator} without argument {name!r}")
        numbers = self.numbers(name, (), count)
        if any(not 1 <= number <= MAX_SIDE or not number.is_integer() for number in numbers):
            self._refuse(name, numbers)
        return [int(number) for number in numbers]

    def end(self) -> None:
        """Refuse what is left."""
        for name, value in self._left.items():
            self._refuse(name, value)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def _refuse(self, name: str, value: Value | Sequence[float]) -> NoReturn:
        raise UnknownToStandInError(
            f"argument {name!r} with the value {value!r} of operator {self._operator}"
        )
