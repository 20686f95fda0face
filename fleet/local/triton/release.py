"""The Triton release of the image that this machine stands in for, as its stand-ins learn it."""

from __future__ import annotations

import re

RELEASE = "TRITON_FLEET_RELEASE"
"""The variable of the server process; without it the release is that of this machine's own Triton."""
_TAG = re.compile(r":(\d\d\.\d\d)-")


def release_of_image(image: str) -> dict[str, str]:
    """The variable for an image, by its tag; none where that names no release."""
    found = _TAG.search(image)
    return {RELEASE: found[1]} if found else {}
