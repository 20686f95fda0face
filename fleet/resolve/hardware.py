"""Which image, which machine, which driver: the three that must fit each other."""

from __future__ import annotations

from fleet.catalog.images import Image, image, image_regions, regions_of, releases
from fleet.catalog.instances import (
    Instance,
    families_with_driver,
    inference_ami,
    instance,
    instance_types,
)
from fleet.resolve.context import Context
from fleet.spec.endpoint import Mode
from fleet.spec.problems import did_you_mean


def resolve_image(context: Context) -> Image | None:
    """The release's image in the environment's region."""
    release, region = context.spec.triton, context.place.region
    if release not in releases():
        message = f"SageMaker has no image of Triton {release}"
        context.refuse("FL201", ("triton",), message, f"releases: {', '.join(releases())}")
        return None
    if region not in image_regions():
        return None  # the environment's own mistake, told there
    if region not in regions_of(release):
        having = [known for known in releases() if region in regions_of(known)]
        hint = f"releases there: {', '.join(having)}"
        message = f"SageMaker has no image of Triton {release} in {region}"
        context.refuse("FL202", ("triton",), message, hint)
        return None
    return image(release, region)


def resolve_instance(context: Context) -> Instance | None:
    """The facts of the instance type."""
    wanted = context.spec.instance.type
    if wanted in instance_types():
        return instance(wanted)
    message = f"{wanted} is no GPU instance that the catalog knows for hosting"
    context.refuse("FL203", ("instance", "type"), message, did_you_mean(wanted, instance_types()))
    return None


def check_one_gpu(context: Context, machine: Instance) -> None:
    """Refuse a machine with several GPUs for a multi-model endpoint.

    Source: SageMaker developer guide, multi-model-endpoint-instance.html.
    """
    if context.spec.mode is Mode.MULTI_MODEL and machine.gpus > 1:
        message = f"{machine.type} has {machine.gpus} GPUs: SageMaker hosts multi-model endpoints on one GPU"
        single = [name for name in instance_types() if instance(name).gpus == 1]
        fitting = [name for name in single if instance(name).family == machine.family] or single
        context.refuse("FL216", ("instance", "type"), message, f"with one GPU: {', '.join(fitting)}")


def resolve_ami(context: Context, image: Image, machine: Instance) -> str | None:
    """The host image whose driver runs the container on this family."""
    ami = inference_ami(image.cuda, machine.family)
    if ami is not None:
        return ami
    fitting = [
        release
        for release in releases()
        if context.place.region in regions_of(release) and _cuda_runs(release, context.place.region, machine)
    ]
    families = ", ".join(families_with_driver(image.cuda))
    message = (
        f"Triton {image.release} is built for CUDA {image.cuda}, and no SageMaker host image"
        f" gives {machine.family} instances a driver for it"
    )
    hint = (
        f'write `triton: "{fitting[-1]}"`, or an instance of {families}'
        if fitting
        else f"families: {families}"
    )
    context.refuse("FL204", ("instance", "type"), message, hint)
    return None


def _cuda_runs(release: str, region: str, machine: Instance) -> bool:
    return inference_ami(image(release, region).cuda, machine.family) is not None
