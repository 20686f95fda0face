"""The container's image: the release's, one in a repository of ECR, or one that the app builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from constructs import Construct


@dataclass(frozen=True)
class ImagePlace:
    """An image's address, and the repository that the role may pull from."""

    uri: str
    repository: ecr.IRepository


@dataclass(frozen=True)
class TritonImage:
    """An image with a Triton server of the release that `triton` names.

    The rules know what a release has inside, and take the same for another image: keep the versions of
    Triton, CUDA and TensorRT of the release that it is built from.
    """

    bind: Callable[[Construct], ImagePlace] | None = None
    """Where it is, declared below a construct; None for the release's own image."""
    digest: str | None = None
    """Of the release's own image."""

    @classmethod
    def from_release(cls, *, digest: str | None = None) -> TritonImage:
        """SageMaker's own image of the release.

        Args:
            digest: `sha256:...` of the one image that is meant; default: what the tag names.
        """
        return cls(digest=digest)

    @classmethod
    def from_ecr_repository(cls, repository: ecr.IRepository, tag_or_digest: str) -> TritonImage:
        """An image of a repository in the endpoint's region.

        Args:
            repository: The repository; that of another account has to allow the endpoint's.
            tag_or_digest: A tag, or `sha256:...`, which no push changes.
        """
        uri = repository.repository_uri_for_tag_or_digest(tag_or_digest)
        return cls(bind=lambda _: ImagePlace(uri, repository))

    @classmethod
    def from_asset(
        cls, directory: str | Path, *, build_args: Mapping[str, str] | None = None, file: str | None = None
    ) -> TritonImage:
        """An image that `cdk deploy` builds for linux/amd64, with Docker, and pushes.

        Args:
            directory: The build context.
            build_args: Build arguments; they remain in the image.
            file: The Dockerfile, relative to the folder; default: `Dockerfile`.
        """

        def bind(scope: Construct) -> ImagePlace:
            asset = ecr_assets.DockerImageAsset(
                scope,
                "Image",
                directory=str(Path(directory).absolute()),  # the CDK has a process of its own
                build_args=dict(build_args or {}),
                file=file,
                platform=ecr_assets.Platform.LINUX_AMD64,
            )
            return ImagePlace(asset.image_uri, asset.repository)

        return cls(bind=bind)
