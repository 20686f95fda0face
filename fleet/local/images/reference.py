"""The name of an image: registry, repository, tag and digest."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from fleet.local.images.output import DockerError

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:(?P<registry>localhost(?::\d+)?|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?|[A-Za-z0-9-]+:\d+)/)?"
    rf"(?P<repository>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)
"""As the grammar of distribution/reference has it."""
_MAX_LENGTH = 512
_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_RELEASE_TAG = re.compile(r"(\d\d\.\d\d)-py3(-cpu)?")
_SAGEMAKER_REPOSITORY = "sagemaker-tritonserver"
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


@dataclass(frozen=True, kw_only=True)
class Reference:
    """An image's name; registry, tag and digest are empty where they are left out."""

    registry: str = ""
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """Without tag and digest."""
        return f"{self.registry}/{self.repository}" if self.registry else self.repository

    @property
    def ecr(self) -> Registry | None:
        """The registry, if it is one of Amazon ECR."""
        found = _ECR.fullmatch(self.registry)
        return Registry(account=found["account"], region=found["region"]) if found else None

    @property
    def release(self) -> ReleaseTag | None:
        """The release of Triton, if this is the name of one of NVIDIA's or SageMaker's images."""
        ours = self.repository == _SAGEMAKER_REPOSITORY and self.ecr is not None
        found = _RELEASE_TAG.fullmatch(self.tag)
        if found is None or not (ours or (self.registry, self.repository) == _NVIDIA):
            return None
        return ReleaseTag(release=found[1], gpu=not found[2])

    @property
    def with_tag(self) -> Reference:
        """With the tag that docker assumes where there is neither a tag nor a digest."""
        return self if self.tag or self.digest else replace(self, tag="latest")

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.name}{tag}{'@' if self.digest else ''}{self.digest}"


def read_reference(text: str) -> Reference:
    """Take a name apart.

    Raises:
        DockerError: it is not the name of an image.
    """
    found = _REFERENCE.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if found is None:
        raise DockerError(f"invalid reference format: {text[:_MAX_LENGTH]!r}")
    return Reference(**{name: value or "" for name, value in found.groupdict().items()})
