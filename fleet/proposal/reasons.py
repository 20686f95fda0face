"""Why a proposed endpoint has its release, its instance and its scaling, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from fleet.catalog.images import releases
from fleet.catalog.instances import Instance, Processor
from fleet.catalog.prices import hosting_price, price_list
from fleet.catalog.proposals import proposals, proposed_families
from fleet.findings import Finding
from fleet.proposal.choice import Choice
from fleet.proposal.key import Key
from fleet.proposal.machine import MIB, Room, size_text
from fleet.rules.names import display_name
from fleet.spec.endpoint import Mode
from fleet.spec.environment import LOCAL
from fleet.spec.project import Project

MEASURES = {Processor.GPU: "gpu_utilization", Processor.CPU: "cpu_utilization"}


def priced_regions(projects: Iterable[Project]) -> list[str]:
    """The regions in which the endpoint costs something; that of this machine where there is no other."""
    regions = {each.environment.environment: each.environment.region for each in projects}
    accounts = [region for environment, region in regions.items() if environment != LOCAL]
    return sorted({*(accounts or regions.values())})


def triton_key(choice: Choice, regions: Collection[str]) -> Key:
    """The release; there are prices where the endpoint is in a region that the catalog has them of."""
    why = ["The newest release for which SageMaker has an image."]
    if choice.newer is not None:
        newer, refusal = choice.newer
        why = [f"The newest release for this endpoint on {choice.machine.type}; not {newer}: {refusal}."]
        if choice.newest_on is not None:
            why.append(
                f"Triton {releases()[-1]}, the newest, would take {_price_text(choice.newest_on, regions)}."
            )
    return Key(name="triton", value=choice.release, why=tuple(why))


def instance_key(choice: Choice, gpu_reason: str, room: Room, mode: Mode, regions: Collection[str]) -> Key:
    """The instance type, and how many begin."""
    machine = choice.machine
    why = [gpu_reason or "A CPU: no model runs on a GPU, by the backends and the instance_group of each."]
    families, share = ", ".join(proposed_families(machine.kind)), f"{proposals().memory_share:.0%}"
    has, takes = (
        (f"its GPU's {size_text(machine.gpu_memory_mib * MIB)}", size_text(room.on_gpu(machine)))
        if machine.kind is Processor.GPU
        else (f"its {machine.memory_gib:g} GiB of memory", size_text(room.in_memory()))
    )
    whose = "the largest archive's weights" if mode is Mode.MULTI_MODEL else "weights"
    if lack := room.lacks(machine):
        why.append(
            f"No instance of {families} leaves {share} of its memory free: {lack}. Measure it, or choose a"
            " larger instance or a lower precision."
        )
    else:
        why.append(
            f"{_price_text(machine, regions)}: the {_least(machine, regions)} of"
            f" {families} in which {whose}, at most {takes} by the files' sizes, take up to {share} of {has};"
            " only a load test shows what inference needs on top."
        )
    if choice.passed_over is not None and choice.passed_over[1]:
        cheaper, reason = choice.passed_over
        why.append(f"Not {cheaper.type}: {reason}.")
    if room.lacks_for_all(machine):
        why.append(
            f"All archives together have files of {size_text(room.in_all())}: not all of them fit at one"
            " time, and SageMaker unloads one for another."
        )
    return Key(name="instance", value={"type": machine.type, "count": proposals().fewest}, why=tuple(why))


def count_keys(count: int) -> list[Key]:
    """The number of instances that begin, where that of a layer below is not in the range of `scaling`."""
    choice = proposals()
    if choice.fewest <= count <= choice.most:
        return []
    why = f"`scaling` keeps {choice.fewest} to {choice.most} instances; a layer below begins with {count}."
    return [Key(name="instance", value={"count": choice.fewest}, why=(why,))]


def scaling_key(machine: Instance, mode: Mode) -> Key:
    """How many instances there are, and what changes that."""
    choice, measure = proposals(), MEASURES[machine.kind]
    value = {"min": choice.fewest, "max": choice.most, measure: choice.utilization}
    why = [
        f"SageMaker spreads {choice.fewest} instances over two Availability Zones, so that one may fail; one"
        " costs half, where an outage of some minutes does no harm (`count: 1`, `min: 1`, for instance in an"
        " environment's `overrides`).",
        f"{choice.utilization} percent is a start, not a measurement: a load test shows"
        " `invocations_per_instance`, which reacts to calls sooner.",
    ]
    if mode is Mode.MULTI_MODEL:
        why.append("Each instance loads what is called there: the first call of a target waits for it.")
    return Key(name="scaling", value=value, why=tuple(why))


def foot(findings: Iterable[Finding], left: Mapping[str, str]) -> list[str]:
    """What is left to the person who knows the endpoint, by key, and what `fleet check` warns of."""
    lines = ["Left to you:", *(f"- {key}: {what}" for key, what in left.items())]
    warnings = [f"- {display_name(each.code)}: {each.message}; {each.hint}" for each in findings]
    return [*lines, *(["`fleet check` warns of what only you know:", *warnings] if warnings else [])]


def _least(machine: Instance, regions: Collection[str]) -> str:
    """By what an instance was chosen from its families."""
    region = price_list().region
    if machine.kind is not Processor.GPU:
        return "smallest"
    return "cheapest" if region in regions else f"cheapest by {region}'s prices"


def _price_text(machine: Instance, regions: Collection[str]) -> str:
    price, prices = hosting_price(machine.type), price_list()
    if price is None:
        return machine.type
    if prices.region not in regions:
        return f"{machine.type} (the catalog has no prices of {', '.join(regions)})"
    return f"{machine.type} (${price.usd_per_hour} an hour in {prices.region}, as of {prices.date})"
