"""Container images that a test assembles, and pushes to Amazon ECR as its API has it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import pytest

from tests.support.hostile_tar import END, file, folder
from triton_fleet.awsapi.images.reference import ImageReference, image_reference
from triton_fleet.awsapi.images.registry import read_image
from triton_fleet.findings import FindingsError
from triton_fleet.spec.image import ImageFacts

HOST = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
"""The registry of the embedded AWS's account."""
DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
OCI = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
PART = 5 << 20
TRITON: dict[str, Any] = {
    "architecture": "amd64",
    "os": "linux",
    "config": {
        "Env": [
            "CUDA_VERSION=12.9.0.036",
            "TRT_VERSION=10.9.0.34",
            "TRITON_SERVER_VERSION=2.57.0",
            "NVIDIA_TRITON_SERVER_VERSION=25.04",
        ],
        "Entrypoint": ["/opt/nvidia/nvidia_entrypoint.sh"],
        "Labels": {
            "com.amazonaws.sagemaker.capabilities.multi-models": "true",
            "com.amazonaws.sagemaker.capabilities.accept-bind-to-port": "true",
        },
    },
}
"""The configuration of a small image with Triton."""
FILES = (
    "opt/tritonserver/backends/python/libtriton_python.so",
    "usr/bin/serve",
    "usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0",
    "usr/local/lib/python3.12/dist-packages/numpy-1.26.4.dist-info/METADATA",
)


def digest_of(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def layer(names: Iterable[str], *, is_packed: bool = True) -> bytes:
    """A layer with these empty files and, where a name ends in `/`, folders."""
    stream = b"".join([*(folder(name) if name.endswith("/") else file(name) for name in names), END])
    return gzip.compress(stream, mtime=0) if is_packed else stream


class ContainerRepository:
    """A repository of the account, to which images are pushed."""

    def __init__(self, ecr: Any, name: str, **options: Any) -> None:
        self.ecr, self.name = ecr, name
        ecr.create_repository(repositoryName=name, **options)

    def upload(self, content: bytes, digest: str = "", part: int = PART) -> str:
        """Upload a layer or a configuration in parts; its digest."""
        digest = digest or digest_of(content)
        upload_id = self.ecr.initiate_layer_upload(repositoryName=self.name)["uploadId"]
        for at in range(0, len(content), part):
            blob = content[at : at + part]
            self.ecr.upload_layer_part(
                repositoryName=self.name,
                uploadId=upload_id,
                partFirstByte=at,
                partLastByte=at + len(blob) - 1,
                layerPartBlob=blob,
            )
        self.ecr.complete_layer_upload(repositoryName=self.name, uploadId=upload_id, layerDigests=[digest])
        return digest

    def blob(self, content: bytes, media_type: str) -> dict[str, Any]:
        """The descriptor of a layer or a configuration, which is uploaded if the repository lacks it."""
        digest = digest_of(content)
        known_values = self.ecr.batch_check_layer_availability(
            repositoryName=self.name, layerDigests=[digest]
        )
        if not known_values["layers"]:
            self.upload(content)
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def push(
        self,
        layers: Sequence[bytes] = (),
        config: Mapping[str, Any] | bytes = TRITON,
        *,
        tag: str | None = None,
        media_type: str = DOCKER,
        changes: Mapping[str, Any] | None = None,
    ) -> str:
        """Push an image, with `changes` of its manifest; its digest."""
        content = config if isinstance(config, bytes) else json.dumps(config).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": media_type,
            "config": self.blob(content, CONFIG),
            "layers": [self.blob(layer, LAYER) for layer in layers],
            **(changes or {}),
        }
        return self.put(manifest, tag)

    def index(self, children: Mapping[str, str], *, tag: str | None = None) -> str:
        """Push an index of images by their platform, `linux/amd64`; its digest."""
        entries = [
            {
                "mediaType": OCI,
                "digest": digest,
                "size": 1,
                "platform": dict(zip(("os", "architecture"), platform.split("/"), strict=True)),
            }
            for platform, digest in children.items()
        ]
        return self.put({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}, tag)

    def put(self, manifest: Mapping[str, Any], tag: str | None = None) -> str:
        """PutImage; its digest."""
        tag_values = {} if tag is None else {"imageTag": tag}
        put = self.ecr.put_image(repositoryName=self.name, imageManifest=json.dumps(manifest), **tag_values)
        digest: str = put["image"]["imageId"]["imageDigest"]
        return digest


def reference_of(repository: ContainerRepository, tag: str = "one") -> ImageReference:
    """The image that a tag names."""
    return image_reference(f"{HOST}/{repository.name}:{tag}")


def facts_of(repository: ContainerRepository) -> ImageFacts:
    """The facts of the image that the tag `one` names, with those of its layers."""
    return read_image(repository.ecr, reference_of(repository), layers=True).facts


def refusal(repository: ContainerRepository) -> str:
    """Code and message of the one finding that there is instead."""
    with pytest.raises(FindingsError) as error_info:
        facts_of(repository)
    (finding,) = error_info.value.findings
    assert finding.hint
    return f"{finding.code} {finding.message}"
