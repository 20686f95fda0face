"""Files as machines that look at a whole repository name them."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from urllib.parse import quote_from_bytes


def place_in(root: Path, file: Path) -> PurePath:
    """A file relative to the project's root, links followed; as an absolute path where it lies outside."""
    # Not Path.resolve, which raises an error where links lead in a circle.
    real = PurePath(os.path.realpath(file))
    top = os.path.realpath(root)
    return real.relative_to(top) if real.is_relative_to(top) else real


def uri_of(place: PurePath) -> str:
    """The path as a URI, absolute as it is."""
    path = quote_from_bytes(os.fsencode(place.as_posix()))
    return f"file://{path}" if place.is_absolute() else path
