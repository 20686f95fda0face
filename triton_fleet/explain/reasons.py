"""Reasons for the image, the instances with their host image and price, and the default model."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.amis import Ami, amis, default_driver
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import Image, Release, releases
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.catalog.prices import EC2, STATED_PRICES
from triton_fleet.context.capacity import least_instances, most_instances
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.security_fixes import fix_names, security_gap
from triton_fleet.context.shared_container import default_route
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.rules.about.images import missing_driver
from triton_fleet.rules.names import allowed_codes
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.prices import PriceBook


def reasons(endpoint: EndpointContext, prices: PriceBook) -> Iterator[Decision]:
    """Decisions by the spec, the lock's models and the catalog, without any place in the account."""
    yield from _image(endpoint)
    yield from _instance(endpoint)
    yield host_image(endpoint)
    yield _price(endpoint, prices)
    yield _default_model(endpoint)


def _image(endpoint: EndpointContext) -> Iterator[Decision]:
    image, release, machine = endpoint.image, endpoint.spec.triton, endpoint.machine
    if image is None:
        region_text = f" in {endpoint.region}" if release in releases() else ""
        reason = f"SageMaker has no image of Triton {release}{region_text}"
        facts = (dated_facts("images.json"), dated_facts("registries.yaml"))
        yield Decision(group="image", what="image", value=None, reason=reason, facts=facts)
        return
    if machine is None:
        cause = f"the catalog does not have {endpoint.spec.instance.type}"
    elif machine.gpus:
        cause = f"{machine.type} has {machine.gpus} x {machine.gpu}"
    else:
        cause = f"{machine.type} is of kind {machine.kind}"
    if image.is_own:
        yield Decision(group="image", what="image", value=image.uri, reason=_own(endpoint))
        yield from _release(image.details)
        yield from _security_fixes(endpoint)
        return
    reason = (
        f"account {image.account} has release {release} in {image.region}; the tag is that for"
        f" {'GPUs' if image.gpu else 'CPUs'}, as {cause}"
    )
    if image.digest is not None:
        reason += "; `image_digest` selects the image of that tag"
    registry = "images.json" if release in data_file("images.json")["versions"] else "registries.yaml"
    yield Decision(
        group="image",
        what="image",
        value=image.uri,
        reason=reason,
        facts=(dated_facts(registry),),
        certain=image.details.certain,
    )
    yield from _release(image.details)
    yield from _security_fixes(endpoint)


def _own(endpoint: EndpointContext) -> str:
    own, lock_image = endpoint.spec.own_image, endpoint.lock.image if endpoint.lock else None
    if own is not None and own.uri is not None:
        inside = "the lock has its facts" if lock_image and lock_image.facts else "what is inside is unknown"
        return f"`image.uri` of the spec; {inside}"
    build_text = "the lock names what was built" if lock_image else "it is not in the lock yet"
    if lock_image is not None and lock_image.digest is None:
        build_text = "the lock names the key under which the deploy builds it"
    if endpoint.spec.builds_mode_image:
        return f"`mode` of the spec: the shared container of this package; {build_text}"
    return f"`image.build` of the spec, {own.build if own else ''}; {build_text}"


def _security_fixes(endpoint: EndpointContext) -> Iterator[Decision]:
    gap = security_gap(endpoint)
    if gap is not None:
        yield Decision(
            group="image",
            what="missing security fixes",
            value=fix_names(gap.missing_fixes) if gap.missing_fixes else "none that the catalog knows",
            reason=f"of Triton's SageMaker front end, in release {gap.release}, for `mode: {gap.mode}`",
            facts=(dated_facts("security_fixes.yaml"),),
        )


def _release(release: Release) -> Iterator[Decision]:
    contents = {
        "Triton server": (release.server, "server"),
        "CUDA": (release.cuda, "cuda"),
        "TensorRT": (release.tensorrt, "tensorrt"),
        "Python": (release.python, "python"),
        "least compute capability": (release.min_compute_capability, "min_compute_capability"),
    }
    for title, (version, field) in contents.items():
        yield Decision(
            group="image",
            what=title,
            value=version or "not known",
            reason=f"{'in' if version else 'no source states it for'} release {release.name}",
            facts=(dated_facts("releases.yaml"),),
            certain=field not in release.uncertain,
        )


def _instance(endpoint: EndpointContext) -> Iterator[Decision]:
    machine, spec_instance = endpoint.machine, endpoint.spec.instance
    facts = (dated_facts("instances.yaml"),)
    if machine is None:
        reason = f"the catalog does not have {spec_instance.type}"
        yield Decision(group="instance", what="instance", value=None, reason=reason, facts=facts)
        return
    further = ", at the first deploy; afterwards scaling decides" if endpoint.spec.scaling else ""
    further += "".join(f"; {extra.label}: {extra.type}" for extra in endpoint.machines[1:])
    yield Decision(
        group="instance",
        what="instance",
        value=f"{spec_instance.count} x {machine.type}",
        reason=f"from `instance.count` and `instance.type`{further}",
    )
    rows = {
        "GPU": (_gpu(machine), f"each {machine.type} has it" if machine.gpus else "no NVIDIA GPU"),
        "CPU and memory": (
            f"{machine.vcpus} vCPU ({machine.architecture}), {machine.memory_gib:g} GiB",
            f"each {machine.type} has it",
        ),
        "local storage": (f"{machine.nvme_gb} GB NVMe", "archives are unpacked there")
        if machine.nvme_gb
        else ("none", "archives are unpacked on an EBS volume"),
    }
    for title, (value, reason) in rows.items():
        yield Decision(group="instance", what=title, value=value, reason=reason, facts=facts)


def _gpu(machine: Instance) -> str:
    if not machine.gpus:
        return "none"
    memory, capability = machine.gpu_memory_mib, machine.compute_capability
    return f"{machine.gpus} x {machine.gpu} of {memory} MiB, compute capability {capability}"


def _price(endpoint: EndpointContext, prices: PriceBook) -> Decision:
    spec, region = endpoint.spec, endpoint.region
    price = prices.price(spec.instance.type, region)
    if price is None:
        reason = "; ".join(prices.absence(spec.instance.type, region))
        return Decision(group="instance", what="price per hour", value="unknown", reason=reason)
    counts = tuple(dict.fromkeys((least_instances(spec), most_instances(spec)[0])))
    value = " to ".join(f"{count * price.per_hour:.2f}" for count in counts)
    is_own = prices.states(spec.instance.type, region)
    return Decision(
        group="instance",
        what="price per hour",
        value=f"{price.sign}{value} {prices.currency}",
        reason=f"{' to '.join(map(str, counts))} x {price.per_hour} {prices.currency}"
        f" on demand in {region}; {price.origin}",
        facts=() if is_own else (dated_facts(STATED_PRICES if price.certain else EC2),),
        certain=price.certain,
    )


def _default_model(endpoint: EndpointContext) -> Decision:
    spec, context_model = endpoint.spec, endpoint.default_model
    lock_models = [name for archive in endpoint.archives.values() for name in archive.models]
    value = context_model
    if spec.mode is Mode.MULTI_MODEL:
        value, reason = "none", "mode `multi-model`: each call names its target model"
    elif spec.mode is Mode.SHARED_CONTAINER:
        value = default_route(spec, endpoint.routes) or "none"
        origin = "named in `default_model`" if spec.default_model else "the only route"
        reason = (
            f"{origin}: it answers calls that name no model"
            if value != "none"
            else "each call names its route"
        )
    elif spec.default_model is not None:
        reason = "named in `default_model`"
    elif context_model is not None:
        reason = "the only model in the lock"
    elif lock_models:
        reason = f"the lock has {', '.join(lock_models)}, and `default_model` names none of them"
    else:
        reason = "`default_model` names none, and no lock lists the models"
    return Decision(group="models", what="default model", value=value, reason=reason)


OWN_CHOICE = "SageMaker's own choice"
NO_DRIVER = missing_driver
"""A spec may allow itself to break this rule."""


def host_image(endpoint: EndpointContext) -> Decision:
    """The host image, or that SageMaker chooses it."""
    machine, ami, name = endpoint.machine, endpoint.ami, endpoint.named_ami
    value = (ami.name or OWN_CHOICE) if ami else None
    without_gpu = machine is not None and machine.kind is not Processor.GPU
    without_driver = not ami and _is_driver_optional(endpoint)
    if name == "" or (name is None and (without_gpu or without_driver)):
        value = OWN_CHOICE
    return Decision(
        group="instance",
        what="host image",
        value=value,
        reason="; ".join(_choice_reason(endpoint) if name is None else _spec_reason(endpoint, name)),
        facts=(dated_facts("amis.yaml"),),
        certain=not ami or not machine or machine.family in ami.accepts + ami.refuses,
    )


def _spec_reason(endpoint: EndpointContext, name: str) -> list[str]:
    ami, image = endpoint.ami, endpoint.image
    key = ".".join(map(str, endpoint.named_ami_path))
    if not name:
        return [f"`{key}` removes it"]
    if ami is None:
        return [f"`{key}` names {name}, which the catalog does not have"]
    driver = f"driver {ami.driver}, for CUDA {ami.cuda}" if ami.gpu else "it has no NVIDIA driver"
    build_texts = [_build_text(image)] if image and image.gpu else []
    return [f"named in `{key}`", driver, *build_texts, *_selection_reason(ami, endpoint.machine)]


def _choice_reason(endpoint: EndpointContext) -> list[str]:
    machine, image, ami = endpoint.machine, endpoint.image, endpoint.ami
    if machine is not None and machine.kind is not Processor.GPU:
        return [f"{machine.type} has no NVIDIA GPU, and so needs no driver"]
    if machine is None or image is None:
        return ["it follows from image and instance, which cannot both be decided"]
    if ami is None:
        exceptions = [f"`allow` accepts {NO_DRIVER.name}"] if _is_driver_optional(endpoint) else []
        absence = f"{_build_text(image)}, and no host image gives {machine.family} instances a driver for it"
        return [absence, *exceptions]
    if not ami.name:
        default = f"driver {ami.driver}, the default of {machine.family} instances"
        return [f"{_build_text(image)}, which runs on {default}"]
    minimum = min(
        int(candidate.driver) for candidate in amis() if candidate.gpu and candidate.cuda >= image.cuda
    )
    return [
        f"chosen because {_build_text(image)}, for which host images have driver {minimum} or newer",
        _default(machine.family, minimum),
        f"{ami.name} has driver {ami.driver}, the first in the catalog that fits",
        *_selection_reason(ami, machine),
    ]


def _is_driver_optional(endpoint: EndpointContext) -> bool:
    return NO_DRIVER.code in allowed_codes(endpoint.spec.allow)


def _build_text(image: Image) -> str:
    return f"Triton {image.release} is built for CUDA {image.details.cuda}"


def _default(family: str, minimum: int) -> str:
    usual = default_driver(family)
    if usual is None:
        return f"the default driver of {family} instances is unknown"
    verdict = "is too old" if int(usual) < minimum else "would do as well"
    return f"the default of {family} instances, driver {usual}, {verdict}"


def _selection_reason(ami: Ami, machine: Instance | None) -> list[str]:
    if machine is None or machine.family in ami.accepts:
        return []
    if machine.family in ami.refuses:
        return [f"SageMaker refuses it for {machine.family} instances"]
    if machine.family in ami.at_times:
        return [f"SageMaker accepts it on {machine.family} instances, but not at all times"]
    return [f"no source confirms that it runs on {machine.family} instances"]
