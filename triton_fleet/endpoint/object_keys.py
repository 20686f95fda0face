"""The prefixes of an artifact bucket, except those of builds (`triton_fleet.builds.engines`, `.images`)."""

from __future__ import annotations

ARCHIVES = "archives/"
"""Archives and files by their digest: the content store."""
CAPTURE = "capture/"
ENDPOINTS = "endpoints/"
"""What each endpoint's Model names, in a folder of its own."""
OWNERS = "owners/"
"""Records of which endpoint may have which content; roles of endpoints and builds may not write there."""
RELEASES = "releases/"
UPLOADS = "uploads/"
"""A folder for each endpoint, into which people upload."""


def prefix_of(endpoint: str) -> str:
    """An endpoint's own prefix of the bucket."""
    return f"{ENDPOINTS}{endpoint}/"


def capture_prefix_of(endpoint: str) -> str:
    """The prefix of an endpoint's captured calls in the bucket."""
    return f"{CAPTURE}{endpoint}/"
