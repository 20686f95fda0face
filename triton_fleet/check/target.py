"""What model repositories are checked for, if no spec names it."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.images import release, releases
from triton_fleet.catalog.instances import instance
from triton_fleet.context.models import ContainerContext
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.spec.endpoint import Mode


@dataclass(frozen=True, kw_only=True)
class RepositoryTarget:
    """The endpoint; None where a fact is unknown.

    Attributes:
        mode: How it holds its models.
        release: The Triton release, such as "25.04".
        instance: The instance type, such as "ml.g5.xlarge".
        default_model: The directory that answers on a single endpoint.
    """

    mode: Mode = Mode.SINGLE
    release: str | None = None
    instance: str | None = None
    default_model: str | None = None

    def container(self) -> ContainerContext:
        """The container, as rules see it."""
        return ContainerContext(
            mode=self.mode,
            triton=self.release,
            contents=release(self.release) if self.release in releases() else None,
            machine=instance(self.instance) if self.instance is not None else None,
        )

    def setting(self) -> ServingContainer:
        """The container that follows."""
        return ServingContainer(
            multi_model=self.mode is Mode.MULTI_MODEL,
            loads_all=self.mode is Mode.SHARED_CONTAINER,
            release=self.release,
            default_model=self.default_model,
        )
