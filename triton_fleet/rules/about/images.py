"""Rules about images: the release's, and those of a spec's own."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.amis import amis, default_driver, families_with_driver, inference_ami, releases_on
from triton_fleet.catalog.images import Image, image_regions, regions_of, releases
from triton_fleet.catalog.instances import Processor, offered_families
from triton_fleet.catalog.releases import numbers
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.own_image import ImageContext
from triton_fleet.context.registries import ecr_account, is_fleet_repository, is_own_or_allowed
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import CONTAINER, IMAGE, INSTANCE_TYPE, VARIANT, Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.image import DOCKER_MANIFEST, PLATFORM, OwnImage
from triton_fleet.spec.problems import did_you_mean

DLC = "https://github.com/aws/deep-learning-containers/blob/master/available_images.md"
DRIVERS = "https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html"
SUPPORT = "https://docs.nvidia.com/deeplearning/triton-inference-server/release-notes/"
PAIRED_SINCE = 12
"""The CUDA version from which containers are known to fail on a host of another one, newer or older. No
source states this for older containers, and outside of SageMaker newer drivers run them.
"""
TRITON = ("triton",)
TYPE = ("instance", "type")


@rule("FL201", source=DLC, is_needed=True)
def release_without_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker has an image of the Triton release.

    NVIDIA publishes a release every month; AWS builds an image of only a few of them.
    """
    triton = endpoint.spec.triton
    if triton not in releases():
        around = [*[release for release in releases() if release < triton][-2:]]
        around += [release for release in releases() if release > triton][:2]
        hint = f"the nearest releases: {', '.join(around)}"
        yield Problem(TRITON, f"SageMaker has no image of Triton {triton}", hint)


@rule("FL202", source=DLC, is_needed=True)
def region_without_release(endpoint: EndpointContext) -> Iterator[Problem]:
    """The release's image is available in the environment's region.

    The registry account differs by release and region, and some regions have only some releases: China has
    none after 25.04.
    """
    triton, region = endpoint.spec.triton, endpoint.region
    if triton in releases() and region not in regions_of(triton) and region in image_regions():
        options = [candidate for candidate in releases() if region in regions_of(candidate)]
        message = f"SageMaker has no image of Triton {triton} in {region}"
        yield Problem(TRITON, message, f"the newest releases in {region}: {', '.join(options[-6:])}")


@rule("FL221", Severity.WARNING, source=DLC)
def unlisted_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """AWS lists the image in the region.

    For a few releases, AWS publishes only the tag, not the regions that have the image.
    """
    image = endpoint.image
    if image is not None and not image.details.certain:
        message = f"AWS does not list the image of Triton {image.release} for {image.region}"
        hint = f"check with `aws ecr describe-images --registry-id {image.account} --region {image.region}`"
        yield Problem(TRITON, message, hint)


@CONTAINER.rule("FL204", source=DRIVERS)
def missing_driver(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker has a host image with a driver for the instance family and the container's CUDA version.

    SageMaker's default driver on g4dn, g5 and p4d is 470, on which no container for CUDA 12 or newer starts;
    the drivers for CUDA 12 do not support the Blackwell GPUs of g7, g7e and p6. Such an endpoint fails after
    15 minutes, with an empty log.
    """
    image, machine = endpoint.image, endpoint.machine
    if image is None or machine is None or machine.kind is not Processor.GPU or machine.is_retired:
        return
    if endpoint.named_ami is not None or endpoint.ami is not None:
        return
    alternative = inference_ami(image.cuda, machine.family)
    if alternative is not None:
        usual = default_driver(machine.family)
        message = (
            f"Triton {image.release} is built for CUDA {image.cuda}; without a named host image"
            f" {machine.family} instances have {f'driver {usual}' if usual else 'an unknown driver'}"
        )
        hint = f"write `{endpoint.variant}.InferenceAmiVersion: {alternative.name}`"
        yield Problem(TYPE, message, hint, certain=usual is not None and image.details.cuda_major_certain)
        return
    usable = releases_on(machine, endpoint.region)
    families = ", ".join(
        family for family in families_with_driver(image.cuda) if family in offered_families()
    )
    message = (
        f"Triton {image.release} is built for CUDA {image.cuda}, and no SageMaker host image"
        f" has a driver for it on {machine.family} instances"
    )
    hint = (
        f'write `triton: "{usable[-1]}"`, or use another instance family: {families}'
        if usable
        else f"use another instance family: {families}"
    )
    yield Problem(TYPE, message, hint, certain=image.details.cuda_major_certain)


@INSTANCE_TYPE.rule("FL222", source=DRIVERS)
def incompatible_ami(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker accepts the host image on the instance family.

    SageMaker refuses some pairs ("Invalid combination"); AWS does not publish a complete list of them.
    """
    ami, machine = endpoint.ami, endpoint.machine
    if ami is None or machine is None or not ami.name or (ami.gpu is False and machine.gpus):
        return
    is_named = endpoint.named_ami is not None
    path = endpoint.named_ami_path if is_named else TYPE
    if machine.kind is not Processor.GPU and ami.gpu:
        yield Problem(
            path, f"{ami.name} is for instances with a GPU; {machine.type} has none", _leave(is_named)
        )
    elif machine.family in ami.refuses:
        message = f"SageMaker refuses {machine.family} instances with the host image {ami.name}"
        yield Problem(path, message, _leave(is_named))
    elif machine.family in ami.at_times:
        message = (
            f"SageMaker accepts the host image {ami.name} on {machine.family} instances, but not at all times"
        )
        hint = (
            'if it answers "Invalid combination", deploy again later or use another family; then write'
            ' `allow: {incompatible-ami: "…"}`'
        )
        yield Problem(path, message, f"{hint}; confirmed: {', '.join(ami.accepts)}", certain=False)
    elif machine.family not in ami.accepts:
        message = f"no source confirms that the host image {ami.name} runs on {machine.family} instances"
        families = f"; confirmed: {', '.join(ami.accepts)}" if ami.accepts else ""
        hint = f'try it once, then write `allow: {{incompatible-ami: "tried on …"}}`{families}'
        yield Problem(path, message, hint, certain=False)


@VARIANT.rule("FL223", source=DRIVERS)
def ami_driver_mismatch(endpoint: EndpointContext) -> Iterator[Problem]:
    """A host image that the spec names has a driver for the container's CUDA version.

    A container for CUDA 12 needs driver 525 or newer, one for CUDA 13 driver 580. A mismatch of host and
    container ends in CannotStartContainerError, or in an endpoint that stays in Creating. No source states
    this for a container for CUDA 11 on a newer driver.
    """
    name, image = endpoint.named_ami, endpoint.image
    ami = endpoint.ami
    if name is None:
        return
    if not name:
        hint = "leave it out: the host image is chosen by release and family"
        yield Problem(endpoint.named_ami_path, "an empty value names no host image", hint)
    elif ami is None:
        names = [candidate.name for candidate in amis() if candidate.name]
        yield Problem(
            endpoint.named_ami_path,
            f"SageMaker has no host image {name!r}",
            did_you_mean(name, names, whole_list=True),
        )
    elif image is not None and image.gpu and ami.cuda != image.cuda:
        driver = f"has driver {ami.driver}, for CUDA {ami.cuda}" if ami.gpu else "has no NVIDIA driver"
        is_untried = image.cuda < ami.cuda and image.cuda < PAIRED_SINCE
        doubt = ", and no public source confirms that it runs there" if is_untried else ""
        message = f"{name} {driver}; Triton {image.release} is built for CUDA {image.cuda}{doubt}"
        certain = image.details.cuda_major_certain and not is_untried
        yield Problem(endpoint.named_ami_path, message, _instead(image, is_untried), certain=certain)


@CONTAINER.rule("FL225", source=SUPPORT)
def gpu_too_old(endpoint: EndpointContext) -> Iterator[Problem]:
    """The release supports the GPU's compute capability.

    Each release states the minimum compute capability of its CUDA libraries and TensorRT.
    """
    image, machine = endpoint.image, endpoint.machine
    if image is None or machine is None or machine.kind is not Processor.GPU:
        return
    min_capability = image.details.min_compute_capability
    if numbers(machine.compute_capability) < numbers(min_capability):
        message = (
            f"{machine.type} ({machine.gpu}) has compute capability {machine.compute_capability};"
            f" Triton {image.release} needs {min_capability} or newer"
        )
        yield Problem(TYPE, message, "use a newer GPU, such as ml.g5.xlarge")


def _leave(is_named: bool) -> str:
    return (
        "leave `ami` out: it is chosen by release and family" if is_named else "use another family or release"
    )


def _instead(image: Image, is_untried: bool) -> str:
    names = [ami.name for ami in amis() if ami.cuda == image.cuda]
    ways = ["leave `ami` out"]
    if names:
        ways.append(f"write one of {', '.join(names)}")
    if is_untried:
        ways.append('try it once and write `allow: {ami-driver-mismatch: "tried on …"}`')
    return ", or ".join(ways)


KEY, URI = ("image",), ("image", "uri")
ADAPT = "https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html"
BUILD = "build the image on the one of the release: `FROM ${TRITON_IMAGE}`"


@rule("FL971", source=ADAPT, is_needed=True)
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


@rule("FL972", source=ADAPT, is_needed=True)
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
    locked_image = lock.image if lock is not None else None
    if own is not None and own.uri is not None and locked_image is not None and locked_image.facts is None:
        message = "the image could not be read: its CUDA, TensorRT, Python and backends are unknown"
        command = endpoint.environment.lock_command(endpoint.spec.endpoint)
        hint = f"run {command} with credentials that may pull it"
        yield Problem(URI, message, hint)


@rule("FL685", source="docs/images.md")
def unpinned_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """An environment that is promoted to runs an image by its digest, as it was tested.

    Otherwise its first deploy would build another one, on what the release's tag names then.
    """
    locked_image, origin = endpoint.lock.image if endpoint.lock else None, endpoint.environment.promoted_from
    if locked_image is not None and locked_image.digest is None and origin is not None:
        message = (
            "the lock names no digest of the image, so that the deploy would build one that nobody tested"
        )
        command = endpoint.environment.lock_command(endpoint.spec.endpoint)
        yield Problem(KEY, message, f"run {command}, which brings the image of {origin}")


@IMAGE.rule("FL975", source="docs/images.md")
def image_release_mismatch(image: ImageContext) -> Iterator[Problem]:
    """The image contains the release that `triton` names."""
    facts, triton = image.facts, image.triton
    if facts.triton not in (None, triton):
        message = f"the image contains Triton {facts.triton}, and `triton` is {triton}"
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
    backends = image.facts.backends
    for name in sorted(image.backends - {"", "ensemble", *backends}) if backends is not None else ():
        message = f"the image has no backend {name!r}; it has {', '.join(backends or ())}"
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


@IMAGE.rule("FL985", source="docs/hosting-modes.md")
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
