"""Manifests of images: which configuration and layers an image has, and which image of an index is ours.

Source: OCI image specification, manifest.md and image-index.md; Docker, Image Manifest Version 2, Schema 2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from triton_fleet.repository.stream import UnreadableError
from triton_fleet.spec.image import DOCKER_MANIFEST, PLATFORM

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MEDIA_TYPES = (DOCKER_MANIFEST, OCI_MANIFEST, *INDEXES)
MAX_MANIFEST_BYTES = 4 << 20
"""Bytes that registries take at least; source: OCI distribution specification, "Pushing Manifests"."""
MAX_CONFIG_BYTES = 8 << 20
"""Bytes of an image's configuration; that of a large image has some 100 KiB."""
MAX_LAYERS = 256
"""Layers of an image; Docker's storage driver takes 128."""
MAX_IMAGE_BYTES = 64 << 30
"""Bytes of all layers, compressed; Triton's largest image has some 15 GiB."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Blob:
    """A configuration or a layer: its digest, and its size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """An image's manifest; `layers` are in their order, the lowest first."""

    digest: str
    media_type: str
    config: Blob
    layers: tuple[Blob, ...]


@dataclass(frozen=True, kw_only=True)
class Index:
    """The manifest of several images: their digests by platform, such as `linux/amd64`."""

    images: Mapping[str, str]

    @property
    def ours(self) -> str | None:
        """The digest of the image that an instance can run."""
        return self.images.get(PLATFORM)


def parse_manifest(text: str, digest: str) -> Manifest | Index:
    """Read a manifest, and compare it with its digest.

    Raises:
        UnreadableError: it is not a manifest of an image, is too large, or has another digest.
    """
    content = text.encode("utf-8", "surrogatepass")
    if len(content) > MAX_MANIFEST_BYTES:
        raise UnreadableError(f"its manifest has more than {MAX_MANIFEST_BYTES >> 20} MiB")
    manifest = parse_json(content, "its manifest")
    if not isinstance(manifest.get("config"), dict) and not isinstance(manifest.get("manifests"), list):
        raise UnreadableError("its manifest names no configuration, so it is not a container image")
    if f"sha256:{sha256(content).hexdigest()}" != digest:
        raise UnreadableError("its manifest does not have the digest that the registry gives")
    if isinstance(manifest.get("manifests"), list):
        return Index(images=dict(_platforms(manifest["manifests"])))
    layers = manifest.get("layers")
    if not isinstance(layers, list) or len(layers) > MAX_LAYERS:
        raise UnreadableError(f"its manifest does not list at most {MAX_LAYERS} layers")
    blobs = tuple(_blob(layer) for layer in layers)
    if sum(blob.size for blob in blobs) > MAX_IMAGE_BYTES:
        raise UnreadableError(f"its layers have more than {MAX_IMAGE_BYTES >> 30} GiB")
    config = _blob(manifest["config"])
    if config.size > MAX_CONFIG_BYTES:
        raise UnreadableError(f"its configuration has more than {MAX_CONFIG_BYTES >> 20} MiB")
    media_type = manifest.get("mediaType", OCI_MANIFEST)
    if media_type not in MEDIA_TYPES:
        raise UnreadableError("its manifest has a type that no image registry uses")
    return Manifest(digest=digest, media_type=media_type, config=config, layers=blobs)


def parse_json(content: bytes, subject: str) -> dict[str, Any]:
    """A JSON object that a registry has.

    Raises:
        UnreadableError: it is not one, or nested too deeply.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise UnreadableError(f"{subject} is not a JSON object")
    return document


def _blob(descriptor: object) -> Blob:
    if isinstance(descriptor, dict):
        digest, size = descriptor.get("digest"), descriptor.get("size")
        if (
            isinstance(digest, str)
            and _DIGEST.fullmatch(digest)
            and type(size) is int
            and 0 <= size <= MAX_IMAGE_BYTES
        ):
            return Blob(digest, size)
    raise UnreadableError("its manifest has an entry without a digest and a size that an image can have")


def _platforms(entries: list[Any]) -> Iterator[tuple[str, str]]:
    """Platform and digest of the images, the last first: of two of one platform the first one counts."""
    for entry in reversed(entries):
        platform = entry.get("platform") if isinstance(entry, dict) else None
        if isinstance(platform, dict) and platform.get("os") != "unknown":
            digest = entry.get("digest")
            if isinstance(digest, str) and _DIGEST.fullmatch(digest):
                yield f"{platform.get('os')}/{platform.get('architecture')}"[:64], digest
