"""Rules about an image of the spec's own: where it comes from, and what the lock knows to be inside."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.own_image import ImageContext
from triton_fleet.context.registries import ecr_account, is_fleet_repository, is_own_or_allowed
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import IMAGE, Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.image import DOCKER_MANIFEST, PLATFORM, OwnImage

KEY, URI = ("image",), ("image", "uri")
ADAPT = "https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html"
BUILD = "build the image on the one of the release: `FROM ${TRITON_IMAGE}`"


@rule("FL971", source=ADAPT, needed=True)
def disallowed_image_account(endpoint: EndpointContext) -> Iterator[Problem]:
    """The image is in the environment's account, or in one that the environment allows.

    It is not in a repository in which a fleet keeps the images that it builds: those are of the endpoints
    whose specs build them.
    """
    own, uri = endpoint.spec.own_image, _uri(endpoint)
    if own is None or own.uri is None or uri is None:
        return
    repository = own.uri.partition("/")[2]
    if is_fleet_repository(repository):
        message = (
            f"the image is in {repository}, which has the images that a fleet has built for its endpoints"
        )
        yield Problem(URI, message, "name the folder of the image with `build`: equal folders share an image")
        return
    account = ecr_account(uri, endpoint.region)
    if account is not None and not is_own_or_allowed(uri, repository, endpoint.environment):
        message = f"the image is in account {account}, which the environment does not allow"
        hint = f'write `allowed_registries: ["{account}"]` into the environment\'s file'
        yield Problem(URI, message, hint)


@rule("FL972", source=ADAPT, needed=True)
def image_of_another_region(endpoint: EndpointContext) -> Iterator[Problem]:
    """The image is in the endpoint's region: SageMaker does not pull from another."""
    registry = _uri(endpoint)
    if registry is not None and ecr_account(registry, endpoint.region) is None:
        message = f"{registry} is not the registry of {endpoint.region}, from which SageMaker pulls"
        yield Problem(URI, message, "copy the image to a repository in that region, and name this one")


@IMAGE.rule(
    "FL973",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/build-multi-model-build-container.html",
)
def image_without_multi_model_label(image: ImageContext) -> Iterator[Problem]:
    """The image of a multi-model endpoint has the label that SageMaker requires for several models."""
    if image.mode is Mode.MULTI_MODEL and not image.facts.multi_model:
        message = "the image has no label `com.amazonaws.sagemaker.capabilities.multi-models=true`"
        yield Problem(KEY, message, BUILD)


@rule("FL974", Severity.WARNING, source="docs/images.md")
def unknown_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """The image's contents are known: rules about drivers, engines and Python depend on them."""
    own, lock = endpoint.spec.own_image, endpoint.lock
    locked = lock.image if lock is not None else None
    if own is not None and own.uri is not None and locked is not None and locked.facts is None:
        message = "the image could not be read: its CUDA, TensorRT, Python and backends are unknown"
        command = endpoint.environment.lock_command(endpoint.spec.endpoint)
        hint = f"run {command} with credentials that may pull it"
        yield Problem(URI, message, hint)


@rule("FL685", source="docs/images.md")
def unpinned_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """An environment that is promoted to runs an image by its digest, as it was tested.

    Otherwise its first deploy would build another one, on what the release's tag names then.
    """
    locked, origin = endpoint.lock.image if endpoint.lock else None, endpoint.environment.promoted_from
    if locked is not None and locked.digest is None and origin is not None:
        message = (
            "the lock names no digest of the image, so that the deploy would build one that nobody tested"
        )
        command = endpoint.environment.lock_command(endpoint.spec.endpoint)
        yield Problem(KEY, message, f"run {command}, which brings the image of {origin}")


@IMAGE.rule("FL975", source="docs/images.md")
def image_release_mismatch(image: ImageContext) -> Iterator[Problem]:
    """The image contains the release that `triton` names."""
    facts, wanted = image.facts, image.triton
    if facts.triton not in (None, wanted):
        message = f"the image contains Triton {facts.triton}, and `triton` is {wanted}"
        yield Problem(("triton",), message, f'write `triton: "{facts.triton}"`, or another image')


@IMAGE.rule("FL976", source="https://github.com/aws/amazon-sagemaker-feedback/issues/180")
def unsupported_image_manifest(image: ImageContext) -> Iterator[Problem]:
    """The image has a Docker manifest: SageMaker refuses an OCI manifest when it creates the Model."""
    facts = image.facts
    if facts.media_type not in (None, DOCKER_MANIFEST):
        message = f"the image's manifest has the type {facts.media_type}, which SageMaker refuses"
        hint = "push it with `docker buildx build --provenance=false --output type=docker`"
        yield Problem(KEY, message, hint)


@IMAGE.rule("FL977", Severity.WARNING, source="docs/images.md")
def image_without_backend(image: ImageContext) -> Iterator[Problem]:
    """The image has the models' backends, except those in a model's own folder."""
    contained = image.facts.backends
    for name in sorted(image.backends - {"", "ensemble", *contained}) if contained is not None else ():
        message = f"the image has no backend {name!r}; it has {', '.join(contained or ())}"
        yield Problem(KEY, message, BUILD)


@IMAGE.rule("FL978", source=ADAPT)
def foreign_image_platform(image: ImageContext) -> Iterator[Problem]:
    """The image is built for the processor architecture of the endpoint's instances."""
    facts = image.facts
    if facts.architecture not in (None, PLATFORM):
        message = f"the image is for {facts.architecture}, and the instances are {PLATFORM}"
        yield Problem(KEY, message, f"build it with `--platform {PLATFORM}`")


@IMAGE.rule("FL979", source=ADAPT)
def image_without_start(image: ImageContext) -> Iterator[Problem]:
    """The image starts with the argument `serve`, as SageMaker runs it."""
    if image.facts.serve is False:
        message = "the image has neither a start script `serve` nor an entrypoint of its own"
        yield Problem(KEY, message, BUILD)


@IMAGE.rule("FL985", source="docs/hosting-modes.md#a-shared-container")
def image_without_routes(image: ImageContext) -> Iterator[Problem]:
    """The image of a shared container has the program that routes calls to models.

    AWS's Triton image refuses to start with several models and no default model.
    """
    if image.mode is Mode.SHARED_CONTAINER and not image.facts.routes_calls:
        message = "the image has no label `triton-fleet.shared-container=true`: nothing in it routes calls"
        yield Problem(KEY, message, "leave `image` out, or build it like containers/shared")


def _own(endpoint: EndpointContext) -> OwnImage | None:
    """The spec's own image where it is run."""
    image = endpoint.image
    return endpoint.spec.own_image if image is not None and image.is_own else None


def _uri(endpoint: EndpointContext) -> str | None:
    """The registry of an image that exists."""
    own = _own(endpoint)
    return own.uri.partition("/")[0] if own is not None and own.uri is not None else None
