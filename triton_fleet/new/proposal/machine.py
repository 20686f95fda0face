"""What kind of instance the models want, and whether they have room on one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from triton_fleet.catalog.backends import backend_facts
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.catalog.proposals import proposals
from triton_fleet.catalog.variables import Weights, gpu_backends
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import PlacedModel
from triton_fleet.context.weights import resident_models, weights_on_gpu
from triton_fleet.spec.lock import LockedModel

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
    known = backend_facts(facts.backend)
    if facts.backend in gpu_backends():
        return 0, f"{model.name} is of the {facts.backend} backend, which runs only on a GPU."
    if ON_GPU in kinds or any(group.gpus for group in facts.instances):
        return 1, f"The instance_group of {model.name} asks for a GPU."
    if (
        facts.backend == ENSEMBLE
        or kinds == {ON_CPU}
        or (known and known.kinds and ON_GPU not in known.kinds)
    ):
        return None
    return 2, (
        f"{model.name} may run on a GPU: its instance_group leaves that to the machine. With KIND_CPU in each"
        " config.pbtxt an instance without a GPU would do."
    )


class Room:
    """What models that are loaded together take of a machine; `plans`: bytes of plans yet to be built."""

    def __init__(self, endpoint: EndpointContext, plans: Mapping[tuple[str, str], int]) -> None:
        self._together, self._plans = resident_models(endpoint.models_context), plans

    def on_gpu(self, machine: Instance) -> int:
        """Bytes of weights on the fullest of its GPUs, at most."""
        return max((self._on(number) for number in range(machine.gpus)), default=0)

    def in_memory(self) -> int:
        """Bytes of the files of all models that are loaded together."""
        return max(sum(self._sizes(each)) for each in self._together)

    def in_all(self) -> int:
        """Bytes of the files of all targets."""
        return sum(sum(self._sizes(each)) for each in self._together)

    def lacks(self, machine: Instance) -> str:
        """What the machine has too little of, as a clause; empty where there is room."""
        share = proposals().memory_share
        weights, gpu = self.on_gpu(machine), machine.gpu_memory_mib * MIB
        if machine.kind is Processor.GPU and weights > share * gpu:
            return f"weights of {size_text(weights)} leave little of its GPU's {size_text(gpu)}"
        files, memory = self.in_memory(), round(machine.memory_gib * GIB)
        if files > share * memory:
            return f"files of {size_text(files)} leave little of its {size_text(memory)} of memory"
        return ""

    def lacks_for_all(self, machine: Instance) -> bool:
        """Whether there is no room for the files of all targets at one time."""
        memory = machine.gpu_memory_mib * MIB if machine.kind is Processor.GPU else machine.memory_gib * GIB
        return self.in_all() > proposals().memory_share * memory

    def _on(self, number: int) -> int:
        return max(sum(self._weights(each, number) for each in together) for together in self._together)

    def _weights(self, model: PlacedModel, number: int) -> int:
        return weights_on_gpu(self._with_plan(model), number, {Weights.OWN, Weights.UNKNOWN})

    def _sizes(self, together: Iterable[PlacedModel]) -> Iterator[int]:
        return (self._with_plan(each).size for each in together)

    def _with_plan(self, model: PlacedModel) -> LockedModel:
        plan = self._plans.get((model.archive, model.name), 0)
        return model.facts.model_copy(update={"size": max(model.facts.size, plan)})


def size_text(size: int) -> str:
    """Bytes in GiB or MiB; 1 MiB of what is less, as an upper bound."""
    if size < MIB:
        return "1 MiB"
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.1f} MiB"
