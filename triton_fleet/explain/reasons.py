"""Why an endpoint gets its image and instances at their price, and its default model."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import Release, releases
from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.prices import EC2, STATED
from triton_fleet.context.capacity import least_instances, most_instances
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.security_fixes import fix_names, security_gap
from triton_fleet.context.shared_container import default_route
from triton_fleet.explain.decision import DatedFacts, Decision, dated_facts
from triton_fleet.explain.host_image import host_image
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
    image, wanted, machine = endpoint.image, endpoint.spec.triton, endpoint.machine
    if image is None:
        where = f" in {endpoint.region}" if wanted in releases() else ""
        reason = f"SageMaker has no image of Triton {wanted}{where}"
        facts = (dated_facts("images.json"), dated_facts("registries.yaml"))
        yield Decision(group="image", what="image", value=None, reason=reason, facts=facts)
        return
    if machine is None:
        why = f"the catalog does not have {endpoint.spec.instance.type}"
    elif machine.gpus:
        why = f"{machine.type} has {machine.gpus} x {machine.gpu}"
    else:
        why = f"{machine.type} is of kind {machine.kind}"
    if image.is_own:
        yield Decision(group="image", what="image", value=image.uri, reason=_own(endpoint))
        yield from _release(image.details)
        yield from _security_fixes(endpoint)
        return
    reason = (
        f"account {image.account} has release {wanted} in {image.region}; the tag is that for"
        f" {'GPUs' if image.gpu else 'CPUs'}, as {why}"
    )
    if image.digest is not None:
        reason += "; `image_digest` selects the image of that tag"
    yield Decision(
        group="image",
        what="image",
        value=image.uri,
        reason=reason,
        facts=(_registry(wanted),),
        certain=image.details.certain,
    )
    yield from _release(image.details)
    yield from _security_fixes(endpoint)


def _own(endpoint: EndpointContext) -> str:
    own, locked = endpoint.spec.own_image, endpoint.lock.image if endpoint.lock else None
    if own is not None and own.uri is not None:
        inside = "the lock has its facts" if locked and locked.facts else "what is inside is unknown"
        return f"`image.uri` of the spec; {inside}"
    built = "the lock names what was built" if locked else "it is not in the lock yet"
    if locked is not None and locked.digest is None:
        built = "the lock names the key under which the deploy builds it"
    if endpoint.spec.builds_mode_image:
        return f"`mode` of the spec: the shared container of this package; {built}"
    return f"`image.build` of the spec, {own.build if own else ''}; {built}"


def _security_fixes(endpoint: EndpointContext) -> Iterator[Decision]:
    gap = security_gap(endpoint)
    if gap is not None:
        yield Decision(
            group="image",
            what="missing security fixes",
            value=fix_names(gap.missing) if gap.missing else "none that the catalog knows",
            reason=f"of Triton's SageMaker front end, in release {gap.release}, for `mode: {gap.mode}`",
            facts=(dated_facts("security_fixes.yaml"),),
        )


def _registry(release: str) -> DatedFacts:
    return dated_facts(
        "images.json" if release in data_file("images.json")["versions"] else "registries.yaml"
    )


def _release(release: Release) -> Iterator[Decision]:
    contents = {
        "Triton server": (release.server, "server"),
        "CUDA": (release.cuda, "cuda"),
        "TensorRT": (release.tensorrt, "tensorrt"),
        "Python": (release.python, "python"),
        "least compute capability": (release.min_compute_capability, "min_compute_capability"),
    }
    for what, (version, field) in contents.items():
        yield Decision(
            group="image",
            what=what,
            value=version or "not known",
            reason=f"{'in' if version else 'no source states it for'} release {release.name}",
            facts=(dated_facts("releases.yaml"),),
            certain=field not in release.uncertain,
        )


def _instance(endpoint: EndpointContext) -> Iterator[Decision]:
    machine, wanted = endpoint.machine, endpoint.spec.instance
    facts = (dated_facts("instances.yaml"),)
    if machine is None:
        reason = f"the catalog does not have {wanted.type}"
        yield Decision(group="instance", what="instance", value=None, reason=reason, facts=facts)
        return
    further = ", at the first deploy; afterwards scaling decides" if endpoint.spec.scaling else ""
    yield Decision(
        group="instance",
        what="instance",
        value=f"{wanted.count} x {machine.type}",
        reason=f"from `instance.count` and `instance.type`{further}{_others(endpoint)}",
    )
    shown = {
        "GPU": (_gpu(machine), f"each {machine.type} has it" if machine.gpus else "no NVIDIA GPU"),
        "CPU and memory": (
            f"{machine.vcpus} vCPU ({machine.architecture}), {machine.memory_gib:g} GiB",
            f"each {machine.type} has it",
        ),
        "local storage": (f"{machine.nvme_gb} GB NVMe", "archives are unpacked there")
        if machine.nvme_gb
        else ("none", "archives are unpacked on an EBS volume"),
    }
    for what, (value, reason) in shown.items():
        yield Decision(group="instance", what=what, value=value, reason=reason, facts=facts)


def _others(endpoint: EndpointContext) -> str:
    """Other instances that raw properties lead to."""
    return "".join(f"; {machine.label}: {machine.type}" for machine in endpoint.machines[1:])


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
    value = " to ".join(f"{count * price.hourly:.2f}" for count in counts)
    is_own = prices.states(spec.instance.type, region)
    return Decision(
        group="instance",
        what="price per hour",
        value=f"{price.sign}{value} {prices.currency}",
        reason=f"{' to '.join(map(str, counts))} x {price.hourly} {prices.currency}"
        f" on demand in {region}; {price.origin}",
        facts=() if is_own else (dated_facts(STATED if price.certain else EC2),),
        certain=price.certain,
    )


def _default_model(endpoint: EndpointContext) -> Decision:
    spec, found = endpoint.spec, endpoint.default_model
    there = [name for archive in endpoint.locked.values() for name in archive.models]
    value = found
    if spec.mode is Mode.MULTI_MODEL:
        value, reason = "none", "mode `multi-model`: each call names its target model"
    elif spec.mode is Mode.SHARED_CONTAINER:
        value = default_route(spec, endpoint.routes) or "none"
        named = "named in `default_model`" if spec.default_model else "the only route"
        reason = (
            f"{named}: it answers calls that name no model"
            if value != "none"
            else "each call names its route"
        )
    elif spec.default_model is not None:
        reason = "named in `default_model`"
    elif found is not None:
        reason = "the only model in the lock"
    elif there:
        reason = f"the lock has {', '.join(there)}, and `default_model` names none of them"
    else:
        reason = "`default_model` names none, and no lock lists the models"
    return Decision(group="models", what="default model", value=value, reason=reason)
