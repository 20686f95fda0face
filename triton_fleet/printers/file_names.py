"""Files as machines that look at a whole repository name them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePath
from urllib.parse import quote_from_bytes

from triton_fleet.findings import Finding


def place_in(root: Path, file: Path) -> PurePath:
    """A file relative to a folder, links followed; as an absolute path if it is outside."""
    # Not Path.resolve, which raises an error where links lead in a circle.
    real = PurePath(os.path.realpath(file))
    top = os.path.realpath(root)
    return real.relative_to(top) if real.is_relative_to(top) else real


def outside(finding: Finding) -> Finding:
    """A finding about an entry of an archive, at the archive, which is the file that exists."""
    if finding.file is None:
        return finding
    for above in finding.file.parents:
        if above.is_file():
            inner = replace(finding, file=finding.file.relative_to(above)).place
            return replace(finding, file=above, line=1, column=None, message=f"{inner}: {finding.message}")
    return finding


def uri_of(place: PurePath) -> str:
    """The path as a URI, absolute as it is."""
    path = quote_from_bytes(os.fsencode(place.as_posix()))
    return f"file://{path}" if place.is_absolute() else path
