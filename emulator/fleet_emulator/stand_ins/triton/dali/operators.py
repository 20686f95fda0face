"""The operators of DALI that the stand-in has, and their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import numpy as np

from fleet_emulator.stand_ins.triton.dali.decoding import (
    MAX_PIXELS,
    MAX_SIDE,
    Array,
    crop,
    decode_image,
    normalise,
    resized,
)
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


@dataclass(frozen=True)
class ValueType:
    """What a value of a pipeline is: in words, by the name of its type in a ModelConfig, by its dimensions.

    What a call sends has the type and the dimensions of its input: None here.
    """

    words: str
    data_type: str | None = None
    dimensions: int | None = None


SENT = ValueType("what a call sends")
PIXELS = ValueType("pixels", "TYPE_UINT8", 3)
"""[height, width, 3]."""
NORMALISED = ValueType("normalised pixels", "TYPE_FP32", 3)
HALF = ValueType("normalised pixels", "TYPE_FP16", 3)

Step = Callable[[Array], Array]
RGB = 0
"""Of DALIImageType."""
LINEAR = 1
"""Of DALIInterpType."""
FLOAT16, FLOAT = 8, 9
"""Of DALIDataType."""
SOURCE = "ExternalSource"
"""What a call's input comes in by."""


@dataclass(frozen=True)
class Operation:
    """An operator: the kind of value that it takes alone, and what its arguments make of it."""

    takes: ValueType
    build: Callable[[Arguments], tuple[Step, ValueType]]


def _decode(arguments: Arguments) -> tuple[Step, ValueType]:
    arguments.one_of("output_type", RGB)
    return decode_image, PIXELS


def _resize(arguments: Arguments) -> tuple[Step, ValueType]:
    (width,), (height,) = (arguments.pixels(name, count=1) for name in ("resize_x", "resize_y"))
    arguments.one_of("interp_type", LINEAR)
    arguments.one_of("antialias", True)
    if width * height > MAX_PIXELS:
        raise UnknownToStandInError(f"operator Resize to {width} x {height} pixels")
    return partial(resized, height=height, width=width), PIXELS


def _crop_mirror_normalize(arguments: Arguments) -> tuple[Step, ValueType]:
    size = arguments.pixels("crop", count=2) if "crop" in arguments else None
    mirror = arguments.one_of("mirror", 0, 1)
    mean, deviation = (
        np.array(arguments.numbers(name, default, 1, 3), np.float32)
        for name, default in (("mean", (0.0,)), ("std", (1.0,)))
    )
    if not deviation.all():
        raise UnknownToStandInError("a standard deviation of 0 in operator CropMirrorNormalize")
    (scale,), (shift,) = (
        arguments.numbers(name, default, 1) for name, default in (("scale", (1.0,)), ("shift", (0.0,)))
    )
    half = arguments.one_of("dtype", FLOAT, FLOAT16) == FLOAT16
    dtype, kind = (np.float16, HALF) if half else (np.float32, NORMALISED)
    layout = arguments.one_of("output_layout", "CHW", "HWC")

    def step(image: Array) -> Array:
        image = image if size is None else crop(image, *size)
        image = image[:, ::-1] if mirror else image
        image = normalise(image, mean, deviation, scale, shift).astype(dtype)
        return image if layout == "HWC" else np.moveaxis(image, -1, 0)

    return step, kind


OPERATIONS = {
    "decoders__Image": Operation(SENT, _decode),
    "Resize": Operation(PIXELS, _resize),
    "CropMirrorNormalize": Operation(PIXELS, _crop_mirror_normalize),
}
"""By the name in DALI's registry."""
