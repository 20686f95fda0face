"""The operators of DALI that the stand-in knows, with the arguments of each.

Source of names and defaults: NVIDIA DALI's reference of operators; tried with DALI 1.53 and 2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from fleet.local.dali.arguments import Arguments
from fleet.local.dali.images import Array, cropped, decoded, normalised, resized

Step = Callable[[Array], Array]
RGB = 0
"""Of DALIImageType."""
LINEAR = 1
"""Of DALIInterpType."""
FLOAT16, FLOAT = 8, 9
"""Of DALIDataType."""
SOURCE = "ExternalSource"
"""What a call's input comes in by."""


def _decode(arguments: Arguments) -> Step:
    arguments.one_of("output_type", RGB)
    return decoded


def _resize(arguments: Arguments) -> Step:
    (width,), (height,) = (arguments.pixels(name, count=1) for name in ("resize_x", "resize_y"))
    arguments.one_of("interp_type", LINEAR)
    arguments.one_of("antialias", True)
    return partial(resized, height=height, width=width)


def _crop_mirror_normalize(arguments: Arguments) -> Step:
    crop = arguments.pixels("crop", count=2) if "crop" in arguments else None
    mirror = arguments.one_of("mirror", 0, 1)
    mean, deviation = (
        np.array(arguments.numbers(name, default, 1, 3), np.float32)
        for name, default in (("mean", (0.0,)), ("std", (1.0,)))
    )
    (scale,), (shift,) = (
        arguments.numbers(name, default, 1) for name, default in (("scale", (1.0,)), ("shift", (0.0,)))
    )
    dtype = np.float16 if arguments.one_of("dtype", FLOAT, FLOAT16) == FLOAT16 else np.float32
    layout = arguments.one_of("output_layout", "CHW", "HWC")

    def step(image: Array) -> Array:
        image = image if crop is None else cropped(image, *crop)
        image = image[:, ::-1] if mirror else image
        image = normalised(image, mean, deviation, scale, shift).astype(dtype)
        return image if layout == "HWC" else np.moveaxis(image, -1, 0)

    return step


STEPS: dict[str, Callable[[Arguments], Step]] = {
    "decoders__Image": _decode,
    "Resize": _resize,
    "CropMirrorNormalize": _crop_mirror_normalize,
}
"""By the name in DALI's registry."""
