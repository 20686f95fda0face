"""Names of images in private registries of Amazon ECR."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from triton_fleet.catalog.images import partition_of
from triton_fleet.findings import Finding, FindingsError

_REGISTRY = r"(?P<account>[0-9]{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]{1,32})\.(?P<domain>[a-z0-9.]{1,64})"
_REPOSITORY = r"(?P<repository>[a-z0-9]+(?:[._/-]{1,2}[a-z0-9]+){0,128})"
_URI = re.compile(
    rf"{_REGISTRY}/{_REPOSITORY}(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}}))?(?:@(?P<digest>sha256:[0-9a-f]{{64}}))?"
)
MAX_URI = 512
"""Characters; a repository's name has at most 256."""


@dataclass(frozen=True, kw_only=True)
class ImageReference:
    """An image of a registry: one with a digest, or the one that a tag names now.

    `registry` is the host, `account` its owner.
    """

    registry: str
    account: str
    region: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    @property
    def uri(self) -> str:
        """The image without its digest."""
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.registry}/{self.repository}{tag}"

    @property
    def name(self) -> str:
        """The image as it was asked for."""
        return f"{self.uri}@{self.digest}" if self.digest else self.uri

    @property
    def repository_arn(self) -> str:
        """The repository as policies name it."""
        partition = partition_of(self.region).name
        return f"arn:{partition}:ecr:{self.region}:{self.account}:repository/{self.repository}"

    def at(self, digest: str) -> ImageReference:
        """The image with this digest."""
        return replace(self, digest=digest)

    def with_tag(self, tag: str) -> ImageReference:
        """The image that a tag of the repository names."""
        return replace(self, tag=tag, digest=None)


def image_reference(uri: str) -> ImageReference:
    """The image that a URI names, by its digest or tag; `latest` where it has neither.

    Raises:
        FindingsError: it is not a URI of a private registry of Amazon ECR.
    """
    match = _URI.fullmatch(uri) if len(uri) <= MAX_URI else None
    if match is None or match["domain"] != partition_of(match["region"]).dns:
        message = f"{uri[:MAX_URI]!r} is not the URI of an image in a private registry of Amazon ECR"
        hint = "write ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY:TAG, or @sha256:... in place of :TAG"
        raise FindingsError([Finding(code="FL636", message=message, hint=hint)])
    tag = match["tag"] if match["tag"] or match["digest"] else "latest"
    return ImageReference(
        registry=uri.partition("/")[0],
        account=match["account"],
        region=match["region"],
        repository=match["repository"],
        tag=tag,
        digest=match["digest"],
    )
