"""The key of an image: what it is built from, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from triton_fleet.core.digests import canonical_digest
from triton_fleet.spec.image import PLATFORM

FORMAT_VERSION = 1
"""Another number is another key of every image: for what the same inputs would build differently."""


def image_key(context_digest: str, base: str, arguments: Mapping[str, str]) -> str:
    """`sha256:` and the digest of what an image is built from.

    Args:
        context_digest: Of the Dockerfile and its build context.
        base: The image that the build passes as TRITON_IMAGE, without its registry and with its digest.
        arguments: The build arguments of the spec; their order does not matter.
    """
    inputs = {
        "architecture": PLATFORM,
        "arguments": dict(arguments),
        "base": base,
        "context": context_digest,
        "format": FORMAT_VERSION,
    }
    return canonical_digest(inputs)
