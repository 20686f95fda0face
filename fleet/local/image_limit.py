"""Which container images the embedded AWS can serve: it has this machine's Triton, and runs no container."""

from __future__ import annotations

from fleet.catalog.images import TRITON_REPOSITORY


def image_limit(uri: str) -> str:
    """Why this machine cannot serve an image, as a sentence; empty if it can."""
    if f"/{TRITON_REPOSITORY}:" in uri:
        return ""
    return f"only {TRITON_REPOSITORY} images are served on this machine, not {uri}"
