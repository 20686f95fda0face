"""Images of one layer, and the images of Triton releases that they begin from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fleet_emulator.stand_ins.docker.files import NAME, DockerError, ImageFile, ImageFiles
from triton_fleet.builds.images.facts import BIND_LABEL, MULTI_MODEL_LABEL
from triton_fleet.catalog.backends import backends
from triton_fleet.catalog.images import (
    TRITON_REPOSITORY,
    Release,
    release,
    release_of_tag,
    releases,
    removed_backends,
)
from triton_fleet.spec.image import DOCKER_MANIFEST, PLATFORM
from triton_fleet.spec.image_name import image_name

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


NOTE = "a stand-in of the release's image: the catalog's facts of it, and empty files"
ENTRYPOINT = "/opt/nvidia/nvidia_entrypoint.sh"
"""triton-inference-server/server, build.py, of all images; as are the variables, labels and paths below."""
_LABELS = {BIND_LABEL: "true", MULTI_MODEL_LABEL: "true"}
_PATH = "/opt/tritonserver/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_REPOSITORY = re.compile(
    rf"nvcr\.io/nvidia/tritonserver|\d{{12}}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/{TRITON_REPOSITORY}"
)
_PROGRAM, _EMPTY = ImageFile(mode=0o755), ImageFile()


def base_image(name: str) -> tuple[dict[str, Any], ImageFiles, str]:
    """The settings, the files and the Python of a release's image.

    Raises:
        DockerError: the image is not one of a release that the catalog has.
    """
    reference = image_name(name)
    tag = release_of_tag(reference.tag) if reference else None
    if reference is None or tag is None or not _REPOSITORY.fullmatch(reference.place):
        raise DockerError(
            f"the stand-in has the images of Triton's releases by their tags alone, not {name!r}"
        )
    version, gpu = tag
    if version not in releases():
        raise DockerError(
            f"the catalog has no facts of release {version}; write one of {', '.join(releases())}"
        )
    facts = release(version)
    settings = {
        "Env": [f"{key}={value}" for key, value in _variables(facts, gpu=gpu).items()],
        "Entrypoint": [ENTRYPOINT],
        "WorkingDir": "/opt/tritonserver",
        "Labels": dict(_LABELS),
    }
    return settings, _files(facts, gpu=gpu), facts.python


def _variables(facts: Release, *, gpu: bool) -> dict[str, str]:
    versions = {"NVIDIA_TRITON_SERVER_VERSION": facts.name, "TRITON_SERVER_VERSION": facts.server}
    if gpu:
        versions["CUDA_VERSION"] = facts.cuda
        if facts.tensorrt is not None:
            versions["TRT_VERSION"] = facts.tensorrt
    return {"PATH": _PATH, **versions}


def _files(facts: Release, *, gpu: bool) -> ImageFiles:
    files = ImageFiles()
    for program in (ENTRYPOINT, "/usr/bin/serve", "/opt/tritonserver/bin/tritonserver", "/usr/bin/python3"):
        files.put(program.lstrip("/"), _PROGRAM)
    files.put(f"usr/bin/python{facts.python}", _PROGRAM)
    files.put(f"usr/lib/python{facts.python}/os.py", _EMPTY)
    for backend in {backend.backend for backend in backends().values()} - removed_backends(facts.name).keys():
        if gpu or backend != "tensorrt":
            files.put(f"opt/tritonserver/backends/{backend}/libtriton_{backend}.so", _EMPTY)
    if gpu:
        files.put(f"usr/local/cuda-{'.'.join(facts.cuda.split('.')[:2])}", None)
        if facts.tensorrt is not None:
            version = ".".join(facts.tensorrt.split(".")[:3])
            files.put(f"usr/lib/x86_64-linux-gnu/libnvinfer.so.{version}", _EMPTY)
    return files
