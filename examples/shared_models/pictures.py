"""Pictures from callers who may be hostile, as RGB; make_image_models.py copies this beside two model.py."""

from __future__ import annotations

import base64
import binascii
import io

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

FORMATS = ("JPEG", "PNG", "WEBP")
MAX_PIXELS = 50_000_000
"""In RGB 150 MB, twice while it is turned; the largest photographs of common cameras have as many."""
_BOMBS = (Image.DecompressionBombError, Image.DecompressionBombWarning)


class PictureError(ValueError):
    """Why the bytes of `img` cannot be used, for the caller."""


def read_picture(encoded: bytes) -> Image.Image:
    """The picture in RGB, turned as its EXIF asks, without transparency; of an animation the first frame.

    Args:
        encoded: Base64, with any white space, of a JPEG, PNG or WebP file.

    Raises:
        PictureError: it is not base64, not such a file, damaged, or has more than MAX_PIXELS.
    """
    try:
        content = base64.b64decode(b"".join(encoded.split()), validate=True)
    except binascii.Error as error:
        raise PictureError(f"img is not base64: {error}") from None
    if not content:
        raise PictureError("img is empty: send a picture in base64")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise PictureError(f"img has {width} x {height} pixels, and {MAX_PIXELS} are allowed")
            return _rgb(ImageOps.exif_transpose(image))
    except PictureError:
        raise
    except _BOMBS:
        raise PictureError(f"img has more than the {MAX_PIXELS} pixels that are allowed") from None
    except UnidentifiedImageError:
        raise PictureError("img is not a picture: send a JPEG, PNG or WebP file in base64") from None
    except Exception as error:  # what a damaged file makes Pillow raise has no class in common
        problem = str(error) or type(error).__name__
        raise PictureError(f"img is damaged and cannot be decoded: {problem}") from error


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):  # grey with 16 bits, which Pillow would cut off at 255
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGB")
