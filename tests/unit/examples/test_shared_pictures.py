"""Pictures of the example `shared_models`: what is read, how it is turned, what hostile callers are told."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.support.shared_models import in_base64, python_model


@pytest.fixture(scope="module")
def pictures() -> Iterator[Any]:
    with python_model("resnet_image", "pictures") as module:
        yield module


def png(width: int, height: int, body: bytes = b"") -> bytes:
    """A PNG that claims to have that size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    file = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")
    return base64.b64encode(file)


RED_IMAGE = Image.new("RGB", (3, 2), (250, 10, 20))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_the_three_formats_are_read_as_rgb(pictures: Any, form: str) -> None:
    picture = pictures.read_picture(in_base64(RED_IMAGE, form))
    assert (picture.mode, picture.size) == ("RGB", (3, 2))
    assert np.abs(np.asarray(picture, int) - [250, 10, 20]).max() < 12


@pytest.mark.parametrize(
    ("image", "pixel"),
    [
        (Image.new("RGBA", (1, 1), (250, 10, 20, 0)), [250, 10, 20]),
        (Image.new("L", (1, 1), 90), [90, 90, 90]),
        (Image.new("1", (1, 1), 1), [255, 255, 255]),
        (Image.fromarray(np.full((1, 1), 0x5A12, np.uint16)), [90, 90, 90]),
        (RED_IMAGE.crop((0, 0, 1, 1)).convert("P", palette=Image.Palette.ADAPTIVE), [250, 10, 20]),
    ],
    ids=["transparent", "grey", "black-and-white", "grey-of-16-bits", "palette"],
)
def test_other_pixels_become_rgb_of_8_bits(pictures: Any, image: Image.Image, pixel: list[int]) -> None:
    assert np.asarray(pictures.read_picture(in_base64(image))).tolist() == [[pixel]]


def test_a_photograph_is_turned_as_its_exif_asks(pictures: Any) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter to the right
    assert pictures.read_picture(in_base64(RED_IMAGE, "JPEG", exif=exif)).size == (2, 3)


def test_lines_of_base64_are_joined(pictures: Any) -> None:
    lines = base64.encodebytes(base64.b64decode(in_base64(RED_IMAGE)))
    assert pictures.read_picture(b"\r\n " + lines).size == (3, 2)


def truncated_picture() -> bytes:
    noise = np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)
    file = base64.b64decode(in_base64(Image.fromarray(noise), "JPEG"))
    return base64.b64encode(file[: len(file) // 2])


@pytest.mark.parametrize(
    ("encoded_content", "message"),
    [
        (b"", "img is empty: send a picture in base64"),
        (b" \n", "img is empty"),
        (b"%%%%", "img is not base64"),
        (b"abc", "img is not base64: Incorrect padding"),
        (b"\xff\xfe\x00", "img is not base64"),
        (b"data:image/png;base64," + in_base64(RED_IMAGE), "img is not base64"),
        (base64.b64encode(b"no picture"), "img is not a picture: send a JPEG, PNG or WebP file in base64"),
        (in_base64(RED_IMAGE, "GIF"), "img is not a picture"),
        (in_base64(RED_IMAGE, "TIFF"), "img is not a picture"),
        (base64.b64encode(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"), "img is not a picture"),
        (truncated_picture(), "img is damaged and cannot be decoded: image file is truncated"),
        (png(50_000, 50_000), "img has more than the 50000000 pixels that are allowed"),
        (png(12_000, 12_000), "img has more than the 50000000 pixels that are allowed"),
        (png(8_000, 8_000), "img has 8000 x 8000 pixels, and 50000000 are allowed"),
        (png(40, 40, bytes(9)), "img is damaged and cannot be decoded"),
        (png(0, 5), "img is"),
    ],
    ids=[
        "empty",
        "blank",
        "signs",
        "cut-off",
        "bytes",
        "data-url",
        "text",
        "gif",
        "tiff",
        "postscript",
        "truncated-jpeg",
        "50000-squared",
        "12000-squared",
        "8000-squared",
        "too-few-bytes",
        "no-width",
    ],
)
def test_a_caller_is_told_what_is_wrong_with_a_picture(
    pictures: Any, encoded_content: bytes, message: str
) -> None:
    with pytest.raises(pictures.PictureError, match=message):
        pictures.read_picture(encoded_content)


def test_the_first_frame_of_an_animation_is_taken(pictures: Any) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    file = io.BytesIO()
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    picture = pictures.read_picture(base64.b64encode(file.getvalue()))
    assert picture.getpixel((0, 0)) == (255, 0, 0)
