"""An image of one layer: its configuration, its manifest, and what `docker image inspect` shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fleet_emulator.stand_ins.docker.base_image import NOTE
from fleet_emulator.stand_ins.docker.output import NAME
from triton_fleet.spec.image import DOCKER_MANIFEST, PLATFORM

_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
_CREATED = "1970-01-01T00:00:00Z"
"""The time of every image: the same input is the same image."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image in the store.

    Attributes:
        config: The bytes of its configuration, whose digest is its id.
        tar: Its one layer.
        packed: The same as gzip, which registries have.
    """

    config: bytes
    tar: Path
    packed: Path

    @property
    def id(self) -> str:
        """The digest of the configuration, by which docker knows an image."""
        return digest_of(self.config)

    @cached_property
    def layer(self) -> str:
        """The digest of the layer as registries know it."""
        return file_digest(self.packed)

    @cached_property
    def manifest(self) -> bytes:
        """Image Manifest Version 2, Schema 2."""
        size = self.packed.stat().st_size
        return encode(
            {
                "schemaVersion": 2,
                "mediaType": DOCKER_MANIFEST,
                "config": {"mediaType": _CONFIG, "digest": self.id, "size": len(self.config)},
                "layers": [{"mediaType": _LAYER, "digest": self.layer, "size": size}],
            }
        )

    def inspection(self) -> dict[str, Any]:
        """The document of `docker image inspect`."""
        shown = json.loads(self.config)
        return {
            "Id": self.id,
            "Author": shown["author"],
            "Config": shown["config"],
            "Architecture": shown["architecture"],
            "Os": shown["os"],
            "Size": self.tar.stat().st_size,
        }


def configuration(settings: Mapping[str, Any], tar: Path) -> bytes:
    """The configuration of an image: what it runs with, Env, Entrypoint and so on, and its layer."""
    system, _, architecture = PLATFORM.partition("/")
    return encode(
        {
            "architecture": architecture,
            "os": system,
            "created": _CREATED,
            "author": NAME,
            "config": dict(settings),
            "rootfs": {"type": "layers", "diff_ids": [file_digest(tar)]},
            "history": [{"created": _CREATED, "created_by": f"{NAME}: {NOTE}"}],
        }
    )


def encode(document: Mapping[str, Any]) -> bytes:
    """A document as JSON whose bytes follow from its content."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")


def digest_of(content: bytes) -> str:
    """`sha256:...` of bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def file_digest(file: Path) -> str:
    """`sha256:...` of a file."""
    with file.open("rb") as opened:
        return f"sha256:{hashlib.file_digest(opened, 'sha256').hexdigest()}"
