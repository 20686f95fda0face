"""Why an endpoint gets its image, its instances and their host image, its default model and its price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.catalog.amis import Ami, amis, default_driver
from fleet.catalog.data_file import data_file
from fleet.catalog.images import Release, releases
from fleet.catalog.instances import Instance, Kind
from fleet.catalog.prices import hosting_price
from fleet.decide.decided import Decided
from fleet.spec.endpoint import Mode

OWN_CHOICE = "SageMaker's own choice"


@dataclass(frozen=True)
class Dated:
    """A data file of the catalog, and the date of its facts as YYYY-MM-DD."""

    file: str
    date: str


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One thing that follows from a spec, with its reason in one line.

    Attributes:
        group: What it belongs to, such as "image".
        what: The thing, such as "host image"; several of one group may be called the same.
        value: As a person writes it; None where it cannot be decided.
        facts: The data files that the reason rests on.
        certain: Whether a source proves those facts.
    """

    group: str
    what: str
    value: str | None
    reason: str
    facts: tuple[Dated, ...] = ()
    certain: bool = True


def dated(file: str) -> Dated:
    """A data file of the catalog with its date."""
    return Dated(file, str(data_file(file)["date"]))


def reasons(endpoint: Decided) -> Iterator[Decision]:
    """What the spec, the lock's models and the catalog decide, without any place in the account."""
    yield from _image(endpoint)
    yield from _instance(endpoint)
    yield _host_image(endpoint)
    yield _price(endpoint)
    yield _default_model(endpoint)


def _image(endpoint: Decided) -> Iterator[Decision]:
    image, wanted, machine = endpoint.image, endpoint.spec.triton, endpoint.machine
    if image is None:
        where = f" in {endpoint.region}" if wanted in releases() else ""
        reason = f"SageMaker has no image of Triton {wanted}{where}"
        yield Decision(group="image", what="image", value=None, reason=reason, facts=(_registry(wanted),))
        return
    if machine is None:
        kind = f"for GPUs, as the catalog does not have {endpoint.spec.instance.type}"
    elif machine.kind is Kind.GPU:
        kind = f"for GPUs, as {machine.type} has {machine.gpus}"
    else:
        kind = f"for {'CPUs' if not image.gpu else 'GPUs'}, as {machine.type} is a {machine.kind} instance"
    reason = f"account {image.account} has release {wanted} in {image.region}; the tag is the one {kind}"
    yield Decision(
        group="image",
        what="image",
        value=image.uri,
        reason=reason,
        facts=(_registry(wanted),),
        certain=image.details.certain,
    )
    yield from _release(image.details)


def _registry(release: str) -> Dated:
    return dated("images.json" if release in data_file("images.json")["versions"] else "registries.yaml")


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
            reason=f"{'in' if version else 'no source says it of'} release {release.name}",
            facts=(dated("releases.yaml"),),
            certain=field not in release.uncertain,
        )


def _instance(endpoint: Decided) -> Iterator[Decision]:
    machine, wanted = endpoint.machine, endpoint.spec.instance
    facts = (dated("instances.yaml"),)
    if machine is None:
        reason = f"the catalog does not have {wanted.type}"
        yield Decision(group="instance", what="instance", value=None, reason=reason, facts=facts)
        return
    further = ", at the first deploy; then scaling decides" if endpoint.spec.scaling else ""
    yield Decision(
        group="instance",
        what="instance",
        value=f"{wanted.count} × {machine.type}",
        reason=f"named in `instance`{further}",
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


def _gpu(machine: Instance) -> str:
    if not machine.gpus:
        return "none"
    memory, capability = machine.gpu_memory_mib, machine.compute_capability
    return f"{machine.gpus} × {machine.gpu} of {memory} MiB, compute capability {capability}"


def _host_image(endpoint: Decided) -> Decision:
    machine, chosen = endpoint.machine, endpoint.ami
    value = (chosen.name or OWN_CHOICE) if chosen else None
    if chosen is None and endpoint.spec.instance.ami is None and machine and machine.kind is not Kind.GPU:
        value = OWN_CHOICE
    return Decision(
        group="instance",
        what="host image",
        value=value,
        reason=_why_host_image(endpoint),
        facts=(dated("amis.yaml"),),
        certain=not chosen or not machine or machine.family in chosen.accepts + chosen.refuses,
    )


def _why_host_image(endpoint: Decided) -> str:
    machine, image, chosen, named = endpoint.machine, endpoint.image, endpoint.ami, endpoint.spec.instance.ami
    built = f"Triton {image.release} is built for CUDA {image.details.cuda}" if image and image.gpu else ""
    if named is not None:
        if chosen is None:
            return f"`instance.ami` names {named}, which SageMaker does not have"
        return "; ".join(
            filter(None, ("named in `instance.ami`", _driver(chosen), _taken(chosen, machine), built))
        )
    if machine is None or image is None:
        return "it follows from image and instance, of which one cannot be decided"
    if machine.kind is not Kind.GPU:
        return f"{machine.type} has no NVIDIA GPU, and so needs no driver"
    family = machine.family
    if chosen is None:
        return f"{built}, and no host image gives {family} instances a driver for it"
    usual = default_driver(family)
    if not chosen.name:
        return f"{built}, which runs on driver {chosen.driver}, the default of {family} instances"
    least = min((int(each.driver) for each in amis() if each.gpu and each.cuda >= image.cuda), default=0)
    if usual is None:
        default = f"which driver {family} instances have by default is not known"
    elif int(usual) < least:
        default = f"the default of {family} instances, driver {usual}, is too old"
    else:
        default = f"the default of {family} instances, driver {usual}, would do as well"
    return "; ".join(
        filter(
            None,
            (
                f"chosen because {built}, for which host images have driver {least} or newer",
                default,
                f"{chosen.name} has driver {chosen.driver}, the first in the catalog that fits",
                _taken(chosen, machine),
            ),
        )
    )


def _driver(chosen: Ami) -> str:
    return f"driver {chosen.driver}, for CUDA {chosen.cuda}" if chosen.gpu else "no NVIDIA driver"


def _taken(chosen: Ami, machine: Instance | None) -> str:
    if machine is None or machine.family in chosen.accepts:
        return ""
    if machine.family in chosen.refuses:
        return f"SageMaker refuses it for {machine.family} instances"
    return f"no public source says that it takes {machine.family} instances"


def _price(endpoint: Decided) -> Decision:
    spec = endpoint.spec
    price, facts = hosting_price(spec.instance.type), (dated("prices.yaml"),)
    if price is None:
        reason = f"the catalog has no price of {spec.instance.type}"
        return Decision(
            group="instance", what="price per hour", value="not known", reason=reason, facts=facts
        )
    low, high = (
        (spec.scaling.min, spec.scaling.max) if spec.scaling else (spec.instance.count, spec.instance.count)
    )
    value = " to ".join(f"{count * price.usd_per_hour:.2f}" for count in dict.fromkeys((low, high)))
    origin = "a public source states it" if price.stated else "computed from EC2's price"
    elsewhere = "" if price.region == endpoint.region else f", {endpoint.region} may differ"
    return Decision(
        group="instance",
        what="price per hour",
        value=f"{value} USD",
        reason=f"{' to '.join(map(str, dict.fromkeys((low, high))))} × {price.usd_per_hour} USD"
        f" on demand in {price.region}{elsewhere}; {origin}",
        facts=facts,
        certain=price.stated,
    )


def _default_model(endpoint: Decided) -> Decision:
    spec, found = endpoint.spec, endpoint.default_model
    there = [name for archive in endpoint.locked.values() for name in archive.models]
    value = found
    if spec.mode is Mode.MULTI_MODEL:
        value, reason = "none", "mode `multi-model`: each call names its target model"
    elif spec.default_model is not None:
        reason = "named in `default_model`"
    elif found is not None:
        reason = "the only model in the lock"
    elif there:
        reason = f"the lock has {', '.join(there)}, and `default_model` names none of them"
    else:
        reason = "`default_model` names none, and no lock says which models there are"
    return Decision(group="models", what="default model", value=value, reason=reason)
