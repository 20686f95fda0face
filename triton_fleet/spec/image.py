"""Images of one's own: what a spec names, and what a lock records of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from triton_fleet.spec.values import Digest, Document, Mistake, Text, hexadecimal

_ECR = r"[0-9]{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?"
_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
ImageUri = Annotated[str, StringConstraints(pattern=rf"^{_ECR}/{_PART}(/{_PART})*$", max_length=400)]
"""A repository of Amazon ECR, with its registry and without tag or digest."""
ArgumentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128)]
PLATFORM = "linux/amd64"
"""The platform of SageMaker's instances with a GPU."""
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
"""The type of the manifests that SageMaker takes."""
TRITON_IMAGE = "TRITON_IMAGE"
"""The build argument that every build gets: the release's own image."""


NO_IMAGE_SOURCE = "neither `build` nor `uri` is given"
ONE_OF_TWO = "write `{build: FOLDER}`, or `{uri: REPOSITORY, digest: sha256:...}`"


class OwnImage(Document):
    """An image of your own in place of the release's: one that is built, or one that exists.

    In mode `shared-container` with `args` alone: the mode's own image, built with them.
    """

    build: Text | None = None
    """A folder relative to this file with a Dockerfile, `ARG TRITON_IMAGE` and `FROM ${TRITON_IMAGE}`, and
    its build context: a deploy builds and pushes it, or `fleet images build`."""
    args: dict[ArgumentName, Text] = Field(default_factory=dict)
    """Build arguments. They remain in the image, so do not put secrets here."""
    uri: ImageUri | None = None
    """An ECR repository in the environment's region, `ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME`."""
    digest: Digest | None = None
    """With `uri`: the image's digest, as `fleet images inspect` shows it."""

    @property
    def has_place(self) -> bool:
        """Whether it names a folder or a repository, and not build arguments alone."""
        return self.build is not None or self.uri is not None

    @model_validator(mode="after")
    def _is_one_of_two(self) -> OwnImage:
        if self.build is not None and self.uri is not None:
            raise Mistake("both `build` and `uri` are given", ONE_OF_TWO)
        if not self.has_place and not self.args:
            raise Mistake(NO_IMAGE_SOURCE, ONE_OF_TWO)
        if self.uri is not None and self.digest is None:
            raise Mistake("`digest` is missing", "`fleet images inspect URI:TAG` shows the digest of a tag")
        if self.build is not None and self.digest is not None:
            raise Mistake("`digest` belongs to `uri`", "leave it out: the lock records the digest of a build")
        if TRITON_IMAGE in self.args:
            raise Mistake(
                f"every build sets {TRITON_IMAGE} itself",
                "leave it out: `triton` selects the release",
                ("args",),
            )
        if self.uri is not None and self.args:
            raise Mistake("`args` belongs to `build`", "leave it out", ("args",))
        return self


SHARED_FOLDER = "containers/shared"
"""The build context of shared containers, of this package and not of a folder beside the spec."""
Version = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){1,3}$")]
MediaType = Annotated[str, StringConstraints(pattern=r"^application/[a-z0-9.+-]{1,96}$")]
BackendName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$")]
PackageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,126}[a-z0-9])?$")]
PackageVersion = Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9.!+_]{0,127}$")]


class ImageFacts(Document):
    """Facts about an image; None where nothing shows them."""

    architecture: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,16}/[a-z0-9_]{1,16}$")] | None = None
    """Operating system and processor: `linux/amd64`."""
    media_type: MediaType | None = None
    """The manifest's: `application/vnd.docker.distribution.manifest.v2+json`."""
    triton: Annotated[str, StringConstraints(pattern=r"^[0-9]{2}\.[0-9]{2}$")] | None = None
    """Triton's release: `25.04`."""
    server: Version | None = None
    """The server's version: `2.57.0`."""
    cuda: Version | None = None
    """CUDA's version in two parts: `12.9`."""
    tensorrt: Version | None = None
    """TensorRT's version: `10.9.0.34`; three parts where only its library shows it."""
    python: Version | None = None
    """The minor version of the Python that the Python backend runs: `3.12`."""
    backends: Annotated[tuple[BackendName, ...], Field(strict=False)] | None = None
    """The backends in Triton's own folder, sorted."""
    packages: dict[PackageName, PackageVersion] | None = None
    """Versions of the packages of that Python, by name as PyPI normalises it."""
    multi_model: bool = False
    """Whether a label lets SageMaker run it for a multi-model endpoint."""
    binds_to_port: bool = False
    """Whether a label lets SageMaker choose its port."""
    routes_calls: bool = False
    """Whether a label declares the program of a shared container, which routes calls to models."""
    serve: bool | None = None
    """Whether SageMaker's `docker run IMAGE serve` starts something: a script or an entrypoint."""


class LockedImage(Document):
    """The image that an endpoint runs, where it is not the release's."""

    key: Digest | None = None
    """For an image that a build makes: computed from its folder, its arguments and the release's image."""
    base: Digest | None = None
    """With `key`: the digest of the release's image; missing until a build has pinned it."""
    digest: Digest | None = None
    """The manifest's in ECR; missing until a build has made it, whose tag in ECR is the key."""
    expected: ImageFacts | None = None
    """Until there is a `digest`: the contents that follow from the release and the Dockerfile."""
    facts: ImageFacts | None = None
    """The image's contents; missing if the image is not built yet or could not be read."""

    @property
    def reference(self) -> str:
        """The name within its repository: the digest, else the tag that its build writes."""
        return self.digest or hexadecimal(self.key or "")

    @property
    def contents(self) -> ImageFacts | None:
        """The facts, else those that are expected."""
        return self.facts or self.expected

    @model_validator(mode="after")
    def _has_a_base_only_if_built(self) -> LockedImage:
        if self.base is not None and self.key is None:
            raise Mistake("`base` belongs to `key`", "have `fleet lock` write both")
        if self.digest is None and self.key is None:
            raise Mistake("`digest` is missing", "have `fleet lock` write it")
        if self.digest is not None and self.expected is not None:
            raise Mistake(
                "`expected` belongs to an image without a `digest`", "have `fleet lock` write it again"
            )
        return self
