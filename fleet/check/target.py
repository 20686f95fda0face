"""What model repositories are checked for, if no spec names it."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.repository.loading.container import ServingContainer


@dataclass(frozen=True, kw_only=True)
class RepositoryTarget:
    """The endpoint; None where a fact is unknown.

    Attributes:
        multi_model: Whether it has several targets.
        release: The Triton release, such as "25.04".
        instance: The instance type, such as "ml.g5.xlarge".
        default_model: The directory that answers on a single endpoint.
    """

    multi_model: bool = False
    release: str | None = None
    instance: str | None = None
    default_model: str | None = None

    def setting(self) -> ServingContainer:
        """The container that follows."""
        return ServingContainer(
            multi_model=self.multi_model, release=self.release, default_model=self.default_model
        )
