"""Rules about the container image and the host's driver."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.amis import amis, default_driver, families_with_driver, inference_ami, releases_on
from triton_fleet.catalog.images import Image, image_regions, regions_of, releases
from triton_fleet.catalog.instances import Processor, offered_families
from triton_fleet.catalog.versions import numbers
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import CONTAINER, INSTANCE_TYPE, VARIANT, Problem, rule
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


@rule("FL201", source=DLC, needed=True)
def release_without_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker has an image of the Triton release.

    NVIDIA publishes a release every month; AWS builds an image of only a few of them.
    """
    wanted = endpoint.spec.triton
    if wanted not in releases():
        around = [*[release for release in releases() if release < wanted][-2:]]
        around += [release for release in releases() if release > wanted][:2]
        hint = f"the nearest releases: {', '.join(around)}"
        yield Problem(TRITON, f"SageMaker has no image of Triton {wanted}", hint)


@rule("FL202", source=DLC, needed=True)
def region_without_release(endpoint: EndpointContext) -> Iterator[Problem]:
    """The release's image is available in the environment's region.

    The registry account differs by release and region, and some regions have only some releases: China has
    none after 25.04.
    """
    wanted, region = endpoint.spec.triton, endpoint.region
    if wanted in releases() and region not in regions_of(wanted) and region in image_regions():
        having = [known for known in releases() if region in regions_of(known)]
        message = f"SageMaker has no image of Triton {wanted} in {region}"
        yield Problem(TRITON, message, f"the newest releases in {region}: {', '.join(having[-6:])}")


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
    if image is None or machine is None or machine.kind is not Processor.GPU or machine.retired:
        return
    if endpoint.named_ami is not None or endpoint.ami is not None:
        return
    other = inference_ami(image.cuda, machine.family)
    if other is not None:
        usual = default_driver(machine.family)
        message = (
            f"Triton {image.release} is built for CUDA {image.cuda}; without a named host image"
            f" {machine.family} instances have {f'driver {usual}' if usual else 'an unknown driver'}"
        )
        hint = f"write `{endpoint.variant}.InferenceAmiVersion: {other.name}`"
        yield Problem(TYPE, message, hint, certain=usual is not None and image.details.cuda_major_certain)
        return
    fitting = releases_on(machine, endpoint.region)
    families = ", ".join(each for each in families_with_driver(image.cuda) if each in offered_families())
    message = (
        f"Triton {image.release} is built for CUDA {image.cuda}, and no SageMaker host image"
        f" has a driver for it on {machine.family} instances"
    )
    hint = (
        f'write `triton: "{fitting[-1]}"`, or use another instance family: {families}'
        if fitting
        else f"use another instance family: {families}"
    )
    yield Problem(TYPE, message, hint, certain=image.details.cuda_major_certain)


@INSTANCE_TYPE.rule("FL222", source=DRIVERS)
def incompatible_ami(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker accepts the host image on the instance family.

    SageMaker refuses some pairs ("Invalid combination"); AWS does not publish a complete list of them.
    """
    chosen, machine = endpoint.ami, endpoint.machine
    if chosen is None or machine is None or not chosen.name or (chosen.gpu is False and machine.gpus):
        return
    named = endpoint.named_ami is not None
    path = endpoint.named_ami_path if named else TYPE
    if machine.kind is not Processor.GPU and chosen.gpu:
        yield Problem(
            path, f"{chosen.name} is for instances with a GPU; {machine.type} has none", _leave(named)
        )
    elif machine.family in chosen.refuses:
        message = f"SageMaker refuses {machine.family} instances with the host image {chosen.name}"
        yield Problem(path, message, _leave(named))
    elif machine.family in chosen.at_times:
        message = (
            f"SageMaker accepts the host image {chosen.name} on {machine.family} instances,"
            " but not at all times"
        )
        hint = (
            'if it answers "Invalid combination", deploy again later or use another family; then write'
            ' `allow: {incompatible-ami: "…"}`'
        )
        yield Problem(path, message, f"{hint}; confirmed: {', '.join(chosen.accepts)}", certain=False)
    elif machine.family not in chosen.accepts:
        message = f"no source confirms that the host image {chosen.name} runs on {machine.family} instances"
        confirmed = f"; confirmed: {', '.join(chosen.accepts)}" if chosen.accepts else ""
        hint = f'try it once, then write `allow: {{incompatible-ami: "tried on …"}}`{confirmed}'
        yield Problem(path, message, hint, certain=False)


@VARIANT.rule("FL223", source=DRIVERS)
def ami_driver_mismatch(endpoint: EndpointContext) -> Iterator[Problem]:
    """A host image that the spec names has a driver for the container's CUDA version.

    A container for CUDA 12 needs driver 525 or newer, one for CUDA 13 driver 580. A mismatch of host and
    container ends in CannotStartContainerError, or in an endpoint that stays in Creating. No source states
    this for a container for CUDA 11 on a newer driver.
    """
    named, image = endpoint.named_ami, endpoint.image
    chosen = endpoint.ami
    if named is None:
        return
    if not named:
        hint = "leave it out: the host image is chosen by release and family"
        yield Problem(endpoint.named_ami_path, "an empty value names no host image", hint)
    elif chosen is None:
        known = [each.name for each in amis() if each.name]
        yield Problem(
            endpoint.named_ami_path,
            f"SageMaker has no host image {named!r}",
            did_you_mean(named, known, list_all=True),
        )
    elif image is not None and image.gpu and chosen.cuda != image.cuda:
        driver = (
            f"has driver {chosen.driver}, for CUDA {chosen.cuda}" if chosen.gpu else "has no NVIDIA driver"
        )
        untried = image.cuda < chosen.cuda and image.cuda < PAIRED_SINCE
        doubt = ", and no public source confirms that it runs there" if untried else ""
        message = f"{named} {driver}; Triton {image.release} is built for CUDA {image.cuda}{doubt}"
        certain = image.details.cuda_major_certain and not untried
        yield Problem(endpoint.named_ami_path, message, _instead(image, untried), certain=certain)


@CONTAINER.rule("FL225", source=SUPPORT)
def gpu_too_old(endpoint: EndpointContext) -> Iterator[Problem]:
    """The release supports the GPU's compute capability.

    Each release states the minimum compute capability of its CUDA libraries and TensorRT.
    """
    image, machine = endpoint.image, endpoint.machine
    if image is None or machine is None or machine.kind is not Processor.GPU:
        return
    least = image.details.min_compute_capability
    if numbers(machine.compute_capability) < numbers(least):
        message = (
            f"{machine.type} ({machine.gpu}) has compute capability {machine.compute_capability};"
            f" Triton {image.release} needs {least} or newer"
        )
        yield Problem(TYPE, message, "use a newer GPU, such as ml.g5.xlarge")


def _leave(named: bool) -> str:
    return "leave `ami` out: it is chosen by release and family" if named else "use another family or release"


def _instead(image: Image, untried: bool) -> str:
    fitting = [each.name for each in amis() if each.cuda == image.cuda]
    ways = ["leave `ami` out"]
    if fitting:
        ways.append(f"write one of {', '.join(fitting)}")
    if untried:
        ways.append('try it once and write `allow: {ami-driver-mismatch: "tried on …"}`')
    return ", or ".join(ways)
