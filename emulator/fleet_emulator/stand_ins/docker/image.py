"""An image: configuration and layers, as the OCI image specification and `docker inspect` have them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fleet_emulator.stand_ins.docker.layer import Layer
from fleet_emulator.stand_ins.docker.output import NAME


@dataclass(frozen=True, kw_only=True)
class MediaTypes:
    """The types that a manifest names: its own, and those of what it lists."""

    manifest: str
    config: str
    layer: str


OCI = MediaTypes(
    manifest="application/vnd.oci.image.manifest.v1+json",
    config="application/vnd.oci.image.config.v1+json",
    layer="application/vnd.oci.image.layer.v1.tar+gzip",
)
DOCKER = MediaTypes(
    manifest="application/vnd.docker.distribution.manifest.v2+json",
    config="application/vnd.docker.container.image.v1+json",
    layer="application/vnd.docker.image.rootfs.diff.tar.gzip",
)
"""Image Manifest Version 2, Schema 2: what `--output type=docker` asks for."""
ARCHITECTURE, OS = "amd64", "linux"
CREATED = "1970-01-01T00:00:00Z"
"""The time of every image that is assembled: the same input is the same image."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image; `manifest` and `config` are the bytes that their digests are of."""

    config: bytes
    manifest: bytes
    layers: tuple[Layer, ...]

    @property
    def id(self) -> str:
        """The digest of the configuration, by which docker knows an image."""
        return digest_of(self.config)

    @property
    def digest(self) -> str:
        """The digest of the manifest, by which registries know an image."""
        return digest_of(self.manifest)

    @property
    def media_type(self) -> str:
        """The type of the manifest."""
        return str(json.loads(self.manifest).get("mediaType", OCI.manifest))

    @property
    def configuration(self) -> dict[str, Any]:
        """The configuration, read."""
        read: dict[str, Any] = json.loads(self.config)
        return read

    def inspection(self, *, tags: Sequence[str], digests: Sequence[str]) -> dict[str, Any]:
        """What `docker image inspect` shows.

        Args:
            tags: The image's names with their tags.
            digests: Its names with its digest, in the registries that it was pushed to or pulled from.
        """
        shown = self.configuration
        return {
            "Id": self.id,
            "RepoTags": list(tags),
            "RepoDigests": list(digests),
            "Comment": shown.get("comment", f"written by {NAME}"),
            "Created": shown.get("created", ""),
            "Author": shown.get("author", ""),
            "Config": shown.get("config", {}),
            "Architecture": shown.get("architecture", ""),
            "Os": shown.get("os", ""),
            "Size": sum(layer.unpacked for layer in self.layers),
            "RootFS": {"Type": "layers", "Layers": [layer.diff_id for layer in self.layers]},
        }


def assembled_image(
    config: Mapping[str, Any],
    layers: Sequence[Layer],
    history: Sequence[Mapping[str, Any]],
    types: MediaTypes = OCI,
) -> Image:
    """An image of this machine's layers.

    Args:
        config: What it runs with: Env, Entrypoint, Labels and so on.
        layers: The lowest first.
        history: An entry for each instruction.
        types: Of its manifest.
    """
    content = encode(
        {
            "architecture": ARCHITECTURE,
            "os": OS,
            "created": CREATED,
            "author": NAME,
            "config": dict(config),
            "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
            "history": list(history),
        }
    )
    manifest = {
        "schemaVersion": 2,
        "mediaType": types.manifest,
        "config": {"mediaType": types.config, "digest": digest_of(content), "size": len(content)},
        "layers": [{"mediaType": types.layer, "digest": each.digest, "size": each.size} for each in layers],
    }
    return Image(config=content, manifest=encode(manifest), layers=tuple(layers))


def encode(document: Mapping[str, Any]) -> bytes:
    """A document as JSON whose bytes follow from its content."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )


def digest_of(content: bytes) -> str:
    """`sha256:...` of bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
