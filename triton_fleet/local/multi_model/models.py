"""Target models of a multi-model endpoint: their names, their states, and what loads them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from urllib3 import HTTPConnectionPool

from triton_fleet.local.containers import Refusal

_SHAPE = re.compile(r"[A-Za-z0-9._/@,:=+%-]{1,1024}")
"""Narrower than SageMaker's own (printable characters): Triton's Python backend puts the name unquoted into a
shell's command line, in which others split it, hang the load, or run as commands (tried with 24.10)."""


def check_target(target: str | None) -> str:
    """The name, if it is one.

    Raises:
        Refusal: it is missing, or not a path of an archive below the endpoint's prefix.
    """
    if target is None:
        message = "TargetModel is required: this is a multi-model endpoint"
        raise Refusal(400, "ValidationError", message)
    if not _SHAPE.fullmatch(target):
        message = (
            f"TargetModel {target!r} is refused: write 1 to 1024 letters, digits and . _ / @ , : = + % -, as"
            " Triton's Python backend runs a shell command with the name in it"
        )
        raise Refusal(400, "ValidationError", message)
    if {"", ".", ".."} & set(target.split("/")):
        message = (
            f"TargetModel {target!r} leaves the endpoint's prefix: it is a path without empty parts, . and .."
        )
        raise Refusal(400, "ValidationError", message)
    return target


def folder_name(url: str) -> str:
    """Name of a target's archive on disk and towards Triton, which takes letters and digits."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]


class ModelState(StrEnum):
    """State of a target model."""

    LOADING = "loading"
    READY = "loaded"
    REMOVAL = "unloading"


class Run(Protocol):
    """One run of a Triton."""

    pool: HTTPConnectionPool


@dataclass(eq=False)
class Model:
    """One target model in one run of Triton; `users` are the invocations that wait for it or use it."""

    target: str
    run: Run
    state: ModelState = ModelState.LOADING
    users: int = 0
    last_use: int = 0
    memory: int = 0
    failure: Exception | None = None


class Neighbors(Protocol):
    """The models beside the one that is being loaded."""

    def in_use(self) -> set[str]:
        """The targets of which Triton may read the files."""

    def evict(self) -> bool:
        """Unload the least recently used, which leaves `in_use`; whether there was one."""

    def wait_for(self, targets: Collection[str]) -> bool:
        """Wait until one of the targets is loaded or gone; False where all of them are loaded."""


class Models(Protocol):
    """Loader of models: Triton, or a test's stand-in."""

    def run(self) -> Run:
        """The present run of Triton, which has none of the models that another run has loaded.

        Raises:
            ModelRefusal: it is being restarted.
        """

    def fetch(self, model: Model, neighbors: Neighbors) -> None:
        """Bring the archive to this machine, sending others away for it.

        Raises:
            Refusal, ModelRefusal: it cannot be had.
        """

    def load(self, model: Model) -> None:
        """Load what was fetched.

        Raises:
            LackOfMemory: other models have to leave first.
            ModelRefusal: it cannot be loaded.
        """

    def fits(self, model: Model, resident_models: Sequence[Model]) -> bool:
        """Whether a model that has just been loaded may stay beside those that were loaded before."""

    def require_room(self, model: Model) -> None:
        """See that a model that has just been loaded would fit alone.

        Raises:
            LackOfMemory: it does not.
        """

    def unload(self, model: Model) -> None:
        """Unload a model.

        Raises:
            ModelRefusal: Triton has ended, and the model with it.
        """
