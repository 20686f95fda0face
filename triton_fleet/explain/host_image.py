"""Why instances get their host image: the driver that the container needs, and the family's own."""

from __future__ import annotations

from triton_fleet.catalog.amis import Ami, amis, default_driver
from triton_fleet.catalog.images import Image
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.context.context import EndpointContext
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.rules.about.images import missing_driver
from triton_fleet.rules.names import allowed_codes

OWN_CHOICE = "SageMaker's own choice"
NO_DRIVER = missing_driver
"""A spec may allow itself to break this rule."""


def host_image(endpoint: EndpointContext) -> Decision:
    """The host image, or that SageMaker chooses it."""
    machine, chosen, named = endpoint.machine, endpoint.ami, endpoint.named_ami
    value = (chosen.name or OWN_CHOICE) if chosen else None
    without_gpu = machine is not None and machine.kind is not Processor.GPU
    without_driver = not chosen and _is_driver_optional(endpoint)
    if named == "" or (named is None and (without_gpu or without_driver)):
        value = OWN_CHOICE
    return Decision(
        group="instance",
        what="host image",
        value=value,
        reason="; ".join(_choice_reason(endpoint) if named is None else _spec_reason(endpoint, named)),
        facts=(dated_facts("amis.yaml"),),
        certain=not chosen or not machine or machine.family in chosen.accepts + chosen.refuses,
    )


def _spec_reason(endpoint: EndpointContext, name: str) -> list[str]:
    chosen, image = endpoint.ami, endpoint.image
    key = ".".join(map(str, endpoint.named_ami_path))
    if not name:
        return [f"`{key}` removes it"]
    if chosen is None:
        return [f"`{key}` names {name}, which the catalog does not have"]
    driver = f"driver {chosen.driver}, for CUDA {chosen.cuda}" if chosen.gpu else "it has no NVIDIA driver"
    built = [_build_text(image)] if image and image.gpu else []
    return [f"named in `{key}`", driver, *built, *_selection_reason(chosen, endpoint.machine)]


def _choice_reason(endpoint: EndpointContext) -> list[str]:
    machine, image, chosen = endpoint.machine, endpoint.image, endpoint.ami
    if machine is not None and machine.kind is not Processor.GPU:
        return [f"{machine.type} has no NVIDIA GPU, and so needs no driver"]
    if machine is None or image is None:
        return ["it follows from image and instance, which cannot both be decided"]
    if chosen is None:
        allowed = [f"`allow` accepts {NO_DRIVER.name}"] if _is_driver_optional(endpoint) else []
        none = f"{_build_text(image)}, and no host image gives {machine.family} instances a driver for it"
        return [none, *allowed]
    if not chosen.name:
        default = f"driver {chosen.driver}, the default of {machine.family} instances"
        return [f"{_build_text(image)}, which runs on {default}"]
    least = min(int(each.driver) for each in amis() if each.gpu and each.cuda >= image.cuda)
    return [
        f"chosen because {_build_text(image)}, for which host images have driver {least} or newer",
        _default(machine.family, least),
        f"{chosen.name} has driver {chosen.driver}, the first in the catalog that fits",
        *_selection_reason(chosen, machine),
    ]


def _is_driver_optional(endpoint: EndpointContext) -> bool:
    return NO_DRIVER.code in allowed_codes(endpoint.spec.allow)


def _build_text(image: Image) -> str:
    return f"Triton {image.release} is built for CUDA {image.details.cuda}"


def _default(family: str, least: int) -> str:
    usual = default_driver(family)
    if usual is None:
        return f"the default driver of {family} instances is unknown"
    judged = "is too old" if int(usual) < least else "would do as well"
    return f"the default of {family} instances, driver {usual}, {judged}"


def _selection_reason(chosen: Ami, machine: Instance | None) -> list[str]:
    if machine is None or machine.family in chosen.accepts:
        return []
    if machine.family in chosen.refuses:
        return [f"SageMaker refuses it for {machine.family} instances"]
    if machine.family in chosen.at_times:
        return [f"SageMaker accepts it on {machine.family} instances, but not at all times"]
    return [f"no source confirms that it runs on {machine.family} instances"]
