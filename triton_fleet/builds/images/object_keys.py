"""Where the artifact bucket keeps what images are built from, and the record of each build."""

from __future__ import annotations

from triton_fleet.spec.values import hexadecimal

IMAGES = "images/"
"""The prefix of all of it."""
CONTEXTS = f"{IMAGES}contexts/"
"""The prefix of build contexts."""
BUILT = f"{IMAGES}built/"
"""The prefix of the records of builds, and of the requests to them."""
MANIFEST, REQUEST, FAILURE, DRAFT = "manifest.json", "request.json", "failure.json", "draft.json"


def context_key(digest: str) -> str:
    """The build context of a digest: a tar file."""
    return f"{CONTEXTS}{hexadecimal(digest)}.tar"


def built_image_key(key: str, name: str) -> str:
    """One of an image's files: REQUEST, DRAFT, then MANIFEST, which shows that it was pushed; or FAILURE."""
    return f"{BUILT}{hexadecimal(key)}/{name}"


def image_lease_key(key: str) -> str:
    """Who builds an image now."""
    return f"{IMAGES}leases/{hexadecimal(key)}.json"
