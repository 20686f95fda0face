"""What the residency of target models works with: a model, and what really loads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fleet.local.containers import ModelRefusal


class State(StrEnum):
    """What happens to a target model."""

    LOADING = "loading"
    LOADED = "loaded"
    UNLOADING = "unloading"


class Run(Protocol):
    """One run of a Triton."""

    port: int


@dataclass(eq=False)
class Model:
    """One target model in one run of Triton; `users` are the invocations that wait for it or use it."""

    target: str
    run: Run
    state: State = State.LOADING
    users: int = 0
    used: int = 0
    memory: int = 0
    failure: Exception | None = None


class Models(Protocol):
    """What really loads and unloads."""

    def run(self) -> Run:
        """The present run of Triton, which has none of the models that another run has loaded.

        Raises:
            ModelRefusal: it is being restarted.
        """

    def fetch(self, model: Model, in_use: Callable[[], set[str]], evict: Callable[[], bool]) -> None:
        """Bring the archive to this machine; `evict` unloads a model, which is not `in_use` any more.

        Raises:
            Refusal, ModelRefusal: it cannot be had.
        """

    def load(self, model: Model) -> None:
        """Load what was fetched.

        Raises:
            LackOfMemory: other models have to leave first.
            ModelRefusal: it cannot be loaded.
        """

    def fits(self, model: Model, loaded: Sequence[Model]) -> bool:
        """Whether a model that has just been loaded may stay beside those that were loaded before."""

    def too_large(self, model: Model) -> ModelRefusal:
        """What is said of a model that does not fit even alone."""

    def unload(self, model: Model) -> None:
        """Unload a model.

        Raises:
            ModelRefusal: Triton has ended, and the model with it.
        """
