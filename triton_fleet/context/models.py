"""A model and the models of a repository, their container, and what is in memory at one time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from triton_fleet.catalog.images import Release
from triton_fleet.catalog.instances import Instance
from triton_fleet.catalog.variables import Weights, weights_of_instances
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.lock import InstanceGroup, LockedModel
from triton_fleet.spec.samples import Sample
from triton_fleet.spec.source import KeyPath


@dataclass(frozen=True, kw_only=True)
class PlacedModel:
    """A model of a repository, with what a lock knows of it.

    Attributes:
        index: Which entry of a spec's `models` its repository is; without a spec, which model of it.
        archive: The name of its repository's archive.
        name: Its directory.
        facts: What follows from its files.
    """

    index: int
    archive: str
    name: str
    facts: LockedModel

    @property
    def path(self) -> KeyPath:
        """Where its repository stands in a spec."""
        return ("models", self.index)


@dataclass(frozen=True, kw_only=True)
class ContainerContext:
    """A container of Triton and its instance; None where a fact is unknown.

    Attributes:
        mode: How it holds its models.
        triton: The release that is named for it, whether or not SageMaker has it.
        contents: What its image contains.
        has_own_image: Whether its image is not SageMaker's.
        machine: The instance that it runs on.
        settings: The variables that its start script reads.
    """

    mode: Mode
    triton: str | None = None
    contents: Release | None = None
    has_own_image: bool = False
    machine: Instance | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ModelContext:
    """A model that a container loads."""

    model: PlacedModel
    container: ContainerContext


@dataclass(frozen=True, kw_only=True)
class ModelsContext:
    """The models that a container loads.

    Attributes:
        models: All of them.
        reachable_models: Those that callers reach.
        samples: The requests that a spec has for them.
        container: What loads them.
    """

    models: tuple[PlacedModel, ...]
    reachable_models: tuple[PlacedModel, ...]
    samples: tuple[Sample, ...] = ()
    container: ContainerContext

    def single_models(self) -> Iterator[ModelContext]:
        """The models, one after the other."""
        return (ModelContext(model=model, container=self.container) for model in self.models)


def resident_models(context: ModelsContext) -> list[list[PlacedModel]]:
    """Models that are certain to be in memory together: for a multi-model endpoint, those of one archive."""
    if context.container.mode is not Mode.MULTI_MODEL:
        return [list(context.models)]
    by_archive = defaultdict[str, list[PlacedModel]](list)
    for model in context.models:
        by_archive[model.archive].append(model)
    return list(by_archive.values())


def instances_on_gpu(facts: LockedModel, number: int) -> int:
    """Instances of a model on the GPU of a number; of KIND_MODEL, which its backend places, one at most."""
    groups = [group for group in facts.instances or (InstanceGroup(),) if group.kind != "KIND_CPU"]
    gpu_groups = [group for group in groups if not group.gpus or number in group.gpus]
    return sum(1 if group.kind == "KIND_MODEL" else group.count for group in gpu_groups)


def weights_on_gpu(facts: LockedModel, number: int, own: Collection[Weights]) -> int:
    """Bytes of a model's weights on a GPU, counted for each instance where its backend is one of `own`.

    The files of a backend of which nothing is known count once.
    """
    count = instances_on_gpu(facts, number)
    return facts.size * (count if weights_of_instances().get(facts.backend) in own else min(count, 1))
