"""What DALI's image decoder makes on a CPU, with Pillow: compared with DALI 1.53 and 2.4, the same pixels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from fleet_emulator.stand_ins.triton.dali.images import MAX_PIXELS, MAX_SIDE, Array, ImageError

FORMATS = ("JPEG", "PNG", "BMP", "TIFF", "PPM", "JPEG2000", "WEBP")
OF_EIGHT_BITS = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr")
"""Modes of Pillow in which it has at most eight bits a channel, whatever the file has."""
BITS_PER_SAMPLE = 258
"""The tag of TIFF."""
SIZE = b"\xff\x4f\xff\x51"
"""How a codestream of JPEG 2000 begins: it, and the marker of its image's size."""
COMPONENTS = 40
"""Bytes from there to their number, of two bytes; of each, three bytes follow, the first its depth less 1."""


def decode_image(encoded: Array) -> Array:
    """An encoded image, UINT8 [bytes] with any bytes after it, as RGB UINT8 [height, width, 3].

    Transparency is dropped. A photograph is not turned by its EXIF: DALI 1, which Triton has until 25.12,
    turns none, DALI 2 does.

    Raises:
        ImageError: it is none, damaged, of more than eight bits a channel, of more than MAX_PIXELS, or of a
            side above MAX_SIDE.
    """
    if encoded.ndim != 1:
        raise ImageError("Input must be 1D encoded jpeg string.")
    if encoded.dtype != np.uint8:
        raise ImageError("Input must be stored as uint8 data.")
    content = encoded.tobytes()
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            _check(image, content)
            return np.asarray(image.convert("RGB"))
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(
            "Unrecognized image format. Supported formats are: JPEG, PNG, BMP, TIFF, PNM, JPEG2000 and WebP."
        ) from None
    except Exception as error:  # what a damaged file makes Pillow raise has no class in common
        raise ImageError(f"the image cannot be decoded: {str(error) or type(error).__name__}") from error


def _check(image: Image.Image, content: bytes) -> None:
    width, height = image.size
    bits = _bits(image, content)
    large = max(width, height) > MAX_SIDE or width * height > MAX_PIXELS
    if large or bits > 8 or image.mode not in OF_EIGHT_BITS:
        form = f"{width} x {height} pixels of mode {image.mode} and {bits} bits a channel"
        raise ImageError(f"an image of {form} is beyond the stand-in for DALI")


def _bits(image: Any, content: bytes) -> int:
    """Bits of the deepest channel, by the file: Pillow's mode is RGB for one of 16 bits as well."""
    stored = image.tile[0].args if image.tile else ""
    match image.format:
        case "PNG" if str(stored).endswith(";16B"):
            return 16
        case "TIFF":
            return int(max(image.tag_v2.get(BITS_PER_SAMPLE, (1,))))
        case "PPM" if isinstance(stored, tuple):
            return int(stored[1]).bit_length()
        case "JPEG2000":
            at = content.index(SIZE) + COMPONENTS
            end = at + 2 + 3 * int.from_bytes(content[at : at + 2], "big")
            return max((each & 0x7F) + 1 for each in content[at + 2 : end : 3])  # bit 7: it is signed
    return 8
