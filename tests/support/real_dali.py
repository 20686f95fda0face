"""Real DALI's answers to images on a CPU: `real_dali.json`, which this file wrote where nvidia-dali-cuda120 2.4.0 was installed.

DALI 1.53.0 writes the same file but for its version. To write it again: python -m tests.support.real_dali
"""

from __future__ import annotations

import base64
import importlib.util
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

FILE = Path(__file__).with_suffix(".json")
MAKER = Path(__file__).parents[2] / "examples/gpu_ensembles/make_pipeline.py"
REAL: Any = json.loads(FILE.read_text())
REASON = "nvidia-dali-cuda120==2.4.0 is not installed: it has 420 MB"


def maker() -> Any:
    """The module examples/gpu_ensembles/make_pipeline.py, which needs DALI."""
    spec = importlib.util.spec_from_file_location("make_pipeline", MAKER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scene(height: int, width: int) -> Image.Image:
    """Slow waves in two channels, hard edges in the third, whose middle is no tie to round."""
    y, x = np.mgrid[0:height, 0:width] / np.array([height, width]).reshape(2, 1, 1)
    waves = [127 + 120 * np.sin(9 * x + 5 * y * y), 127 + 120 * np.cos(14 * y - 3 * x)]
    edges = 254.0 * ((np.floor(x * 12) + np.floor(y * 9)) % 2)
    return Image.fromarray(np.stack([*waves, edges], -1).round().astype(np.uint8))


def encode_image(image: Image.Image, form: str, **manner: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **manner)
    return file.getvalue()


def serialized_pipeline(build: Callable[[Any], Any]) -> bytes:
    """A pipeline of one input, IN, all on the CPU."""
    from nvidia import dali
    from nvidia.dali._utils import dali_trace

    dali_trace.set_tracing(enabled=False)

    @dali.pipeline_def(batch_size=1, num_threads=1, device_id=None)  # type: ignore[untyped-decorator]
    def pipeline() -> Any:
        return build(dali.fn.external_source(device="cpu", name="IN"))

    return bytes(pipeline().serialize())


def ran(pipeline: bytes, image: bytes) -> np.ndarray[Any, Any]:
    from nvidia import dali

    is_loaded = dali.Pipeline.deserialize(pipeline)
    is_loaded.build()
    name = "DALI_INPUT_0" if b"DALI_INPUT_0" in pipeline else "IN"
    is_loaded.feed_input(name, [np.frombuffer(image, np.uint8)])
    return np.asarray(is_loaded.run()[0].as_array()[0])


def cases() -> dict[str, tuple[bytes, bytes, int]]:
    """By title: the pipeline, the encoded image, and of which pixels the numbers are kept: every nth."""
    from nvidia.dali import fn, types

    translucent = scene(9, 12).convert("RGBA")
    translucent.putalpha(100)
    return {
        "a photograph, by the pipeline of gpu-ensembles": (
            maker().pipeline("cpu"),
            encode_image(scene(48, 64), "JPEG", quality=80, subsampling="4:2:0"),
            60,
        ),
        "an image made smaller, with bytes after its end": (
            serialized_pipeline(
                lambda x: fn.crop_mirror_normalize(
                    fn.resize(fn.decoders.image(x, device="cpu"), resize_x=13, resize_y=11),
                    output_layout="HWC",
                )
            ),
            encode_image(scene(70, 90), "PNG") + bytes(64),
            1,
        ),
        "a grey image, channels first": (
            serialized_pipeline(
                lambda x: fn.crop_mirror_normalize(
                    fn.resize(fn.decoders.image(x, device="cpu"), resize_x=9, resize_y=7),
                    scale=1 / 255,
                )
            ),
            encode_image(scene(30, 40).convert("L"), "JPEG", quality=90),
            1,
        ),
        "the middle of a translucent image, mirrored, in half precision": (
            serialized_pipeline(
                lambda x: fn.crop_mirror_normalize(
                    fn.decoders.image(x, device="cpu"),
                    crop=(4, 5),
                    mirror=1,
                    mean=[10.0],
                    std=[20.0, 40.0, 60.0],
                    scale=2.0,
                    shift=0.5,
                    dtype=types.FLOAT16,
                    output_layout="HWC",
                )
            ),
            encode_image(translucent, "PNG"),
            1,
        ),
    }


def unknown() -> dict[str, bytes]:
    """Pipelines beyond the stand-in, by what of them it does not know."""
    from nvidia.dali import fn, types

    def image(x: Any, **manner: Any) -> Any:
        return fn.decoders.image(x, device="cpu", **manner)

    return {
        "operator Rotate": serialized_pipeline(lambda x: fn.rotate(image(x), angle=10.0)),
        "argument 'interp_type' with the value 2 of operator Resize": serialized_pipeline(
            lambda x: fn.resize(image(x), resize_x=8, resize_y=8, interp_type=types.INTERP_CUBIC)
        ),
        "operator Resize without argument 'resize_x'": serialized_pipeline(
            lambda x: fn.resize(image(x), resize_shorter=8)
        ),
        "argument 'output_type' with the value 2 of operator decoders__Image": serialized_pipeline(
            lambda x: image(x, output_type=types.GRAY)
        ),
        "argument 'mirror' of operator CropMirrorNormalize, computed by another": serialized_pipeline(
            lambda x: fn.crop_mirror_normalize(image(x), mirror=fn.external_source(device="cpu", name="M"))
        ),
        "operator random__CoinFlip": serialized_pipeline(
            lambda x: fn.crop_mirror_normalize(image(x), mirror=fn.random.coin_flip())
        ),
        "operator Resize of normalised pixels": serialized_pipeline(
            lambda x: fn.resize(
                fn.crop_mirror_normalize(image(x), std=[255.0], output_layout="HWC"), resize_x=8, resize_y=8
            )
        ),
        "operator CropMirrorNormalize of normalised pixels": serialized_pipeline(
            lambda x: fn.crop_mirror_normalize(fn.crop_mirror_normalize(image(x)), crop=(4, 4))
        ),
        "operator CropMirrorNormalize of what a call sends": serialized_pipeline(
            lambda x: fn.crop_mirror_normalize(x)
        ),
    }


def written_pipeline() -> str:
    from nvidia import dali

    def text(content: bytes) -> str:
        return base64.b64encode(content).decode()

    result = {
        title: {
            "pipeline": text(pipeline),
            "image": text(image),
            "every": every,
            "dtype": str((output := ran(pipeline, image)).dtype),
            "shape": output.shape,
            "numbers": [float(f"{item:.7g}") for item in output[::every, ::every].ravel()],
        }
        for title, (pipeline, image, every) in cases().items()
    }
    refused_texts = {name: text(pipeline) for name, pipeline in unknown().items()}
    return json.dumps({"dali": dali.__version__, "cases": result, "unknown": refused_texts}, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(written_pipeline())
