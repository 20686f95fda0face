"""Files made to harm, or to be computed otherwise than DALI does, are refused by the stand-in for DALI."""

from __future__ import annotations

import math
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fleet_emulator.stand_ins.triton.dali.decoding import MAX_SIDE, ImageError, decode_image
from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.model import NotServedError, load
from fleet_emulator.stand_ins.triton.dali.operators import UnknownToStandInError
from fleet_emulator.stand_ins.triton.dali.pipeline_file import MAX_SIZE, Operator, SerializedPipeline, Value
from tests.support.real_dali import encode_image, scene

SOURCE = Operator(name="ExternalSource", inputs=(), outputs=("IN",), arguments={}, argument_inputs=())
DECODER = replace(SOURCE, name="decoders__Image", inputs=("IN",), outputs=("IMAGE",))


def png(*, width: int = 4, depth: int = 8) -> bytes:
    """One whose header says what it does not hold."""
    file = bytearray(encode_image(scene(3, 4), "PNG"))
    file[16:20], file[24] = width.to_bytes(4, "big"), depth
    file[29:33] = zlib.crc32(file[12:29]).to_bytes(4, "big")
    return bytes(file)


def replace_bytes(form: str, was: bytes, into: bytes) -> bytes:
    file = encode_image(scene(3, 4), form)
    assert was in file
    return file.replace(was, into, 1)


@pytest.mark.parametrize(
    "content",
    [
        png(depth=16),
        b"P6 2 2 65535\n" + bytes(24),
        b"P3 1 1 256\n1 2 3\n",
        replace_bytes("TIFF", b"\x08\0" * 3, b"\x10\0" * 3),
        replace_bytes("JPEG2000", b"\x07\x01\x01" * 3, b"\x0f\x01\x01" * 3),
    ],
    ids=["png", "pnm", "pnm-as-text", "tiff", "jpeg2000"],
)
def test_colours_of_more_than_eight_bits_are_refused(content: bytes) -> None:
    with pytest.raises(ImageError, match=r"of mode RGB and (9|16) bits a channel is beyond the stand-in"):
        decode_image(np.frombuffer(content, np.uint8))


def test_a_side_that_would_take_gigabytes_to_resize_is_refused() -> None:
    with pytest.raises(ImageError, match="65536 x 3 pixels .* is beyond the stand-in"):
        decode_image(np.frombuffer(png(width=MAX_SIDE + 1), np.uint8))


def test_a_file_that_breaks_its_decoder_is_an_image_that_cannot_be_decoded() -> None:
    file = bytearray(encode_image(scene(3, 4), "TIFF"))
    file[72] = 5  # a tag's count becomes a fraction, which Pillow does not expect
    with pytest.raises(ImageError, match="the image cannot be decoded: 'IFDRational' object cannot be"):
        decode_image(np.frombuffer(bytes(file), np.uint8))


def test_memory_that_an_image_asks_for_in_vain_is_told_as_its_own_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhaust_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Image, "open", exhaust_memory)
    with pytest.raises(ImageError, match="the image cannot be decoded: MemoryError"):
        decode_image(np.frombuffer(b"an image", np.uint8))


def graph(operator: str, arguments: dict[str, Value]) -> Graph:
    step = replace(SOURCE, name=operator, inputs=("IMAGE",), outputs=("OUT",), arguments=arguments)
    return Graph(SerializedPipeline(operators=(SOURCE, DECODER, step), outputs=("OUT",)))


@pytest.mark.parametrize(
    ("operator", "arguments", "message"),
    [
        ("Resize", {"resize_x": 1e30, "resize_y": 8.0}, "argument 'resize_x' with the value .1e.30."),
        ("Resize", {"resize_x": math.inf, "resize_y": 8.0}, "argument 'resize_x' with the value inf"),
        ("Resize", {"resize_x": 65535.0, "resize_y": 65535.0}, "operator Resize to 65535 x 65535 pixels"),
        ("CropMirrorNormalize", {"std": [0.0]}, "a standard deviation of 0 in operator CropMirrorNormalize"),
        ("CropMirrorNormalize", {"mean": [math.nan]}, "argument 'mean' with the value .nan."),
    ],
    ids=["side", "infinite", "area", "deviation", "nan"],
)
def test_numbers_that_no_image_can_be_made_with_are_refused_at_load(
    operator: str, arguments: dict[str, Value], message: str
) -> None:
    with pytest.raises(UnknownToStandInError, match=message):
        graph(operator, arguments)


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_a_declared_type_that_is_no_number_is_refused_at_load(number: float) -> None:
    source = replace(SOURCE, arguments={"dtype": number})
    with pytest.raises(UnknownToStandInError, match=f"argument 'dtype' with the value {number}"):
        Graph(SerializedPipeline(operators=(source,), outputs=("IN",)))


def test_a_value_that_two_operators_make_is_refused_at_load() -> None:
    second_source = replace(SOURCE, outputs=("IMAGE",))
    with pytest.raises(UnknownToStandInError, match="value 'IMAGE', which two operators make"):
        Graph(SerializedPipeline(operators=(SOURCE, DECODER, second_source), outputs=("IMAGE",)))


def test_of_a_file_that_is_too_large_no_more_is_read_than_tells_that(tmp_path: Path) -> None:
    with (tmp_path / "model.dali").open("wb") as file:
        file.truncate(1 << 40)  # a hole, larger than memory
    with pytest.raises(NotServedError, match=f"model.dali: it has more than the {MAX_SIZE} bytes"):
        load(tmp_path, {"name": "dali"})
