"""The container's image: the release's, one in a repository of ECR, or one that the app builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from constructs import Construct

from triton_endpoints.library.values import is_token
from triton_fleet.builds.images.check import check_start
from triton_fleet.builds.images.context import read_context
from triton_fleet.builds.images.dockerfile import read_dockerfile
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.catalog.images import image
from triton_fleet.core.folders import source_path
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image import SHARED_FOLDER, TRITON_IMAGE
from triton_fleet.spec.source import Mark

ANY_REGION = "us-east-1"
"""The registry of a base image where the stack has no region."""


@dataclass(frozen=True)
class ImagePlace:
    """An image's address, and the repository that the role may pull from.

    Attributes:
        uri: The address.
        repository: The repository.
        directory: The build context of an image that the app builds by the file `Dockerfile` in it.
        build_args: The build arguments of such an image.
    """

    uri: str
    repository: ecr.IRepository
    directory: Path | None = None
    build_args: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TritonImage:
    """An image with a Triton server of the release that `triton` names.

    The rules know what a release has inside, and take the same for another image: keep the versions of
    Triton, CUDA and TensorRT of the release that it is built from.

    Attributes:
        bind: Where it is, declared below a construct; None for the release's own image.
        digest: `sha256:...` of the release's own image; None for what the tag names.
    """

    bind: Callable[[Construct], ImagePlace] | None = None
    digest: str | None = None

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
            place = Path(directory) if file is None else None
            return ImagePlace(asset.image_uri, asset.repository, place, build_args or {})

        return cls(bind=bind)


def shared_container_image(scope: Construct, endpoint: ResolvedEndpoint) -> ImagePlace:
    """The image of a shared container that triton-fleet ships, on the release's, which `cdk deploy` builds.

    Raises:
        FindingsError: the deploy decides the release.
    """
    release = endpoint.engine_image
    if is_token(endpoint.spec.triton):
        message = "the deploy decides `triton`, and the image of a shared container is built on a release"
        hint = "write the release itself, or give an `image`"
        raise FindingsError([Finding(code="FL616", message=message, hint=hint, file=Path("triton"))])
    if is_token(endpoint.deployment.region):
        # Build arguments cannot be tokens; the registries of all regions have the same image.
        release = replace(image(release.release, ANY_REGION, gpu=release.gpu), digest=release.digest)
    asset = ecr_assets.DockerImageAsset(
        scope,
        "Image",
        directory=str(source_path(SHARED_FOLDER)),
        build_args={TRITON_IMAGE: release.reference},
        exclude=["**/__pycache__"],
        platform=ecr_assets.Platform.LINUX_AMD64,
    )
    return ImagePlace(asset.image_uri, asset.repository)


def router_findings(place: ImagePlace, spec: EndpointSpec, environment: Environment) -> list[Finding]:
    """Mistakes of an image that the app builds for a shared container.

    Raises:
        FindingsError: its Dockerfile cannot be read.
    """
    if place.directory is None or spec.mode is not Mode.SHARED_CONTAINER:
        return []
    inputs = ImageInputs(
        dockerfile=read_dockerfile(place.directory, triton_image=TRITON_IMAGE, arguments=place.build_args),
        context=read_context(place.directory),
        release=spec.triton,
        environment=environment,
        argument_mark=lambda name: Mark(Path("image"), 0, 0),
        mode=spec.mode,
    )
    return list(check_start(inputs))
