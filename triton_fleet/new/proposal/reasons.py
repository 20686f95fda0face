"""The reasons for a proposed release, instance and scaling, from the room that the models need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from triton_fleet.catalog.backends import backend_facts
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.catalog.proposals import proposals, proposed_families
from triton_fleet.catalog.variables import Weights, gpu_backends
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import PlacedModel, resident_models, weights_on_gpu
from triton_fleet.findings import Finding
from triton_fleet.new.proposal.choice import Choice
from triton_fleet.new.proposal.yaml_text import Key
from triton_fleet.project.project import Project
from triton_fleet.rules.names import display_name
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.lock import LockedModel
from triton_fleet.spec.prices import PriceBook

ENSEMBLE = "ensemble"
MIB, GIB = 1 << 20, 1 << 30
ON_CPU, ON_GPU = "KIND_CPU", "KIND_GPU"


def gpu_reason(models: Iterable[PlacedModel]) -> str:
    """Why the models want a GPU, as a sentence; empty where none does."""
    wishes = sorted(wish for model in models if (wish := _wish(model)))
    return wishes[0][1] if wishes else ""


def _wish(model: PlacedModel) -> tuple[int, str] | None:
    """The strongest sorts first."""
    facts = model.facts
    kinds = {group.kind for group in facts.instances}
    backend = backend_facts(facts.backend)
    if facts.backend in gpu_backends():
        return 0, f"{model.name} is of the {facts.backend} backend, which runs only on a GPU."
    if ON_GPU in kinds or any(group.gpus for group in facts.instances):
        return 1, f"The instance_group of {model.name} asks for a GPU."
    if (
        facts.backend == ENSEMBLE
        or kinds == {ON_CPU}
        or (backend and backend.kinds and ON_GPU not in backend.kinds)
    ):
        return None
    return 2, (
        f"{model.name} may run on a GPU: its instance_group leaves that to the machine. With KIND_CPU in each"
        " config.pbtxt an instance without a GPU would do."
    )


class Room:
    """The room that models need which are loaded together; `plans`: bytes of plans yet to be built."""

    def __init__(self, endpoint: EndpointContext, plans: Mapping[tuple[str, str], int]) -> None:
        self._model_sets, self._plans = resident_models(endpoint.models_context), plans

    def on_gpu(self, machine: Instance) -> int:
        """Bytes of weights on the fullest of its GPUs, at most."""
        return max((self._on(number) for number in range(machine.gpus)), default=0)

    def in_memory(self) -> int:
        """Bytes of the files of all models that are loaded together."""
        return max(sum(self._sizes(models)) for models in self._model_sets)

    def total_bytes(self) -> int:
        """Bytes of the files of all targets."""
        return sum(sum(self._sizes(models)) for models in self._model_sets)

    def lacks(self, machine: Instance) -> str:
        """The resource that the machine has too little of, as a clause; empty where there is room."""
        share = proposals().memory_share
        weights, gpu = self.on_gpu(machine), machine.gpu_memory_mib * MIB
        if machine.kind is Processor.GPU and weights > share * gpu:
            return f"weights of {size_text(weights)} leave little of its GPU's {size_text(gpu)}"
        files, memory = self.in_memory(), round(machine.memory_gib * GIB)
        if files > share * memory:
            return f"files of {size_text(files)} leave little of its {size_text(memory)} of memory"
        return ""

    def lacks_room_for_sum(self, machine: Instance) -> bool:
        """Whether there is no room for the files of all targets at one time."""
        memory = machine.gpu_memory_mib * MIB if machine.kind is Processor.GPU else machine.memory_gib * GIB
        return self.total_bytes() > proposals().memory_share * memory

    def _on(self, number: int) -> int:
        return max(sum(self._weights(model, number) for model in models) for models in self._model_sets)

    def _weights(self, model: PlacedModel, number: int) -> int:
        return weights_on_gpu(self._with_plan(model), number, {Weights.OWN, Weights.UNKNOWN})

    def _sizes(self, models: Iterable[PlacedModel]) -> Iterator[int]:
        return (self._with_plan(model).size for model in models)

    def _with_plan(self, model: PlacedModel) -> LockedModel:
        plan = self._plans.get((model.archive, model.name), 0)
        return model.facts.model_copy(update={"size": max(model.facts.size, plan)})


def size_text(size: int) -> str:
    """Bytes in GiB or MiB; 1 MiB of what is less, as an upper bound."""
    if size < MIB:
        return "1 MiB"
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.1f} MiB"


MEASURES = {Processor.GPU: "gpu_utilization", Processor.CPU: "cpu_utilization"}


@dataclass(frozen=True)
class RegionPrices:
    """The prices in the regions of an endpoint; an instance is chosen by those of the first one."""

    book: PriceBook
    regions: tuple[str, ...]

    def hourly_price(self, instance_type: str) -> Decimal | None:
        """The price by which the cheaper of two instances is chosen; None if it is unknown."""
        price = self.book.price(instance_type, self.regions[0])
        return None if price is None else price.per_hour

    def text(self, instance_type: str) -> str:
        """An instance type with its price in each of the regions."""
        prices = {region: self.book.price(instance_type, region) for region in self.regions}
        prices_text = [
            f"{price.sign}{price.per_hour.normalize():f} {self.book.currency} in {region}"
            for region, price in prices.items()
            if price is not None
        ]
        unknown = [region for region, price in prices.items() if price is None]
        prices_text += [f"unknown in {', '.join(unknown)}"] * bool(unknown)
        return f"{instance_type} (an hour: {', '.join(prices_text)}; {self.book.words})"


def region_prices(projects: Sequence[Project]) -> RegionPrices:
    """Those of the regions in which the endpoint costs something; of this machine's if there is no other."""
    regions = {project.environment.environment: project.environment.region for project in projects}
    accounts = [region for environment, region in regions.items() if environment != LOCAL]
    return RegionPrices(projects[0].fleet.prices, tuple(dict.fromkeys(accounts or regions.values())))


def triton_key(choice: Choice) -> Key:
    """The release, and why it is not a newer one."""
    sentence = "The newest release for which SageMaker has an image."
    if choice.newer is not None:
        newer, refusal = choice.newer
        sentence = f"The newest release for this endpoint on {choice.machine.type}; not {newer}: {refusal}."
    return Key(name="triton", value=choice.release, reasons=(sentence,))


def instance_key(choice: Choice, gpu_reason: str, room: Room, mode: Mode, prices: RegionPrices) -> Key:
    """The instance type, and how many begin."""
    machine = choice.machine
    sentences = [
        gpu_reason or "A CPU: no model runs on a GPU, by the backends and the instance_group of each."
    ]
    families, share = ", ".join(proposed_families(machine.kind)), f"{proposals().memory_share:.0%}"
    has, takes = (
        (f"its GPU's {size_text(machine.gpu_memory_mib * MIB)}", size_text(room.on_gpu(machine)))
        if machine.kind is Processor.GPU
        else (f"its {machine.memory_gib:g} GiB of memory", size_text(room.in_memory()))
    )
    whose = "the largest archive's weights" if mode is Mode.MULTI_MODEL else "weights"
    if lack := room.lacks(machine):
        sentences.append(
            f"No instance of {families} leaves {share} of its memory free: {lack}. Measure it, or choose a"
            " larger instance or a lower precision."
        )
    else:
        sentences.append(
            f"{prices.text(machine.type)}: the {_superlative(machine, prices)} of"
            f" {families} in which {whose}, at most {takes} by the files' sizes, take up to {share} of {has};"
            " only a load test shows what inference needs on top."
        )
    if choice.passed_over is not None and choice.passed_over[1]:
        cheaper, reason = choice.passed_over
        sentences.append(f"Not {cheaper.type}: {reason}.")
    if room.lacks_room_for_sum(machine):
        sentences.append(
            f"All archives together have files of {size_text(room.total_bytes())}: not all of them fit at one"
            " time, and SageMaker unloads one for another."
        )
    return Key(
        name="instance",
        value={"type": machine.type, "count": proposals().min_instances},
        reasons=tuple(sentences),
    )


def count_keys(count: int) -> list[Key]:
    """The number of instances that begin, where that of a layer below is not in the range of `scaling`."""
    choice = proposals()
    fewest, maximum = choice.min_instances, choice.max_instances
    if fewest <= count <= maximum:
        return []
    sentence = f"`scaling` keeps {fewest} to {maximum} instances; a layer below begins with {count}."
    return [Key(name="instance", value={"count": fewest}, reasons=(sentence,))]


def scaling_key(machine: Instance, mode: Mode) -> Key:
    """How many instances there are, and what changes that."""
    choice, measure = proposals(), MEASURES[machine.kind]
    value = {"min": choice.min_instances, "max": choice.max_instances, measure: choice.utilization}
    sentences = [
        f"SageMaker spreads {choice.min_instances} instances over two Availability Zones, so that one may"
        " fail; one costs half, where an outage of some minutes does no harm (`count: 1`, `min: 1`, for"
        " instance in an environment's `overrides`).",
        f"{choice.utilization} percent is a start, not a measurement: a load test shows"
        " `invocations_per_instance`, which reacts to calls sooner.",
    ]
    if mode is Mode.MULTI_MODEL:
        sentences.append("Each instance loads what is called there: the first call of a target waits for it.")
    return Key(name="scaling", value=value, reasons=tuple(sentences))


def foot(findings: Iterable[Finding], keys_of_author: Mapping[str, str]) -> list[str]:
    """Keys that are left to the person who knows the endpoint, and what `fleet check` warns of."""
    lines = ["Left to you:", *(f"- {key}: {text}" for key, text in keys_of_author.items())]
    warnings = [f"- {display_name(finding.code)}: {finding.message}; {finding.hint}" for finding in findings]
    return [*lines, *(["`fleet check` warns of what only you know:", *warnings] if warnings else [])]


def _superlative(machine: Instance, prices: RegionPrices) -> str:
    """By what an instance was chosen from its families."""
    if prices.hourly_price(machine.type) is None:
        return "smallest"
    return "cheapest" if len(prices.regions) == 1 else f"cheapest in {prices.regions[0]}"
