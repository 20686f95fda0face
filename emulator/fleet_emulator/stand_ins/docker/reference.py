"""What the stand-in for Docker reads in the name of an image: its registry of ECR, a release of Triton."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from fleet.catalog.images import TRITON_REPOSITORY
from fleet.spec.image_name import MAX_LENGTH, ImageName, image_name
from fleet_emulator.stand_ins.docker.output import DockerError

_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_RELEASE_TAG = re.compile(r"(\d\d\.\d\d)-py3(-cpu)?")
_NVIDIA = ("nvcr.io", "nvidia/tritonserver")


@dataclass(frozen=True, kw_only=True)
class Registry:
    """A registry of Amazon ECR."""

    account: str
    region: str


@dataclass(frozen=True, kw_only=True)
class ReleaseTag:
    """A release of Triton that an image is named after."""

    release: str
    gpu: bool


def ecr_of(name: ImageName) -> Registry | None:
    """The registry, if it is one of Amazon ECR."""
    found = _ECR.fullmatch(name.registry)
    return Registry(account=found["account"], region=found["region"]) if found else None


def release_of(name: ImageName) -> ReleaseTag | None:
    """The release of Triton, if this is the name of one of NVIDIA's or SageMaker's images."""
    ours = name.repository == TRITON_REPOSITORY and ecr_of(name) is not None
    found = _RELEASE_TAG.fullmatch(name.tag)
    if found is None or not (ours or (name.registry, name.repository) == _NVIDIA):
        return None
    return ReleaseTag(release=found[1], gpu=not found[2])


def with_tag(name: ImageName) -> ImageName:
    """With the tag that docker assumes where there is neither a tag nor a digest."""
    return name if name.tag or name.digest else replace(name, tag="latest")


def read_reference(text: str) -> ImageName:
    """Take a name apart.

    Raises:
        DockerError: it is not the name of an image.
    """
    found = image_name(text)
    if found is None:
        raise DockerError(f"invalid reference format: {text[:MAX_LENGTH]!r}")
    return found
