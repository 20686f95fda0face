"""The operators of DALI that the stand-in knows, with the arguments of each.

Source of names and defaults: NVIDIA DALI's reference of operators; tried with DALI 1.53 and 2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fleet_emulator.stand_ins.triton.dali.arguments import Arguments, UnknownToStandInError
from fleet_emulator.stand_ins.triton.dali.decoding import decode_image
from fleet_emulator.stand_ins.triton.dali.images import MAX_PIXELS, Array, crop, normalise, resized


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
