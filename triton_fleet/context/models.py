"""A model and the models of a repository, with what is known of the container that loads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from triton_fleet.catalog.images import Release
from triton_fleet.catalog.instances import Instance
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.lock import LockedModel
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
        called: Those that callers reach.
        samples: The requests that a spec has for them.
        container: What loads them.
    """

    models: tuple[PlacedModel, ...]
    called: tuple[PlacedModel, ...]
    samples: tuple[Sample, ...] = ()
    container: ContainerContext

    def single_models(self) -> Iterator[ModelContext]:
        """The models, one after the other."""
        return (ModelContext(model=model, container=self.container) for model in self.models)
