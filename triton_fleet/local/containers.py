"""How an invocation reaches the container of a deployed endpoint, and how it may be refused on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from urllib3 import HTTPConnectionPool

from triton_fleet.catalog.limits import seconds_to_answer
from triton_fleet.local.triton.supervisor import SupervisedTriton

SECONDS_TO_ANSWER = float(seconds_to_answer(streams=False))
"""With the load of a target; source: SageMaker developer guide, invoke-multi-model-endpoint."""
TARGET_MODEL = "X-Amzn-SageMaker-Target-Model"
Record = Callable[[str, float], None]
"""Counts one value of a measure of the catalog, for the endpoint that is meant."""


class Refusal(Exception):
    """SageMaker itself refuses the invocation."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(message)


class ModelRefusal(Exception):
    """The container gave no prediction; `status` and `message` are its own answer, 0 where it gave none."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


class LackOfMemory(ModelRefusal):
    """The container has no memory left for what it was asked."""

    STATUS = 507
    """Triton's answer to a load or an invocation then; source: its src/sagemaker_server.cc."""

    def __init__(self, message: str) -> None:
        super().__init__(self.STATUS, message)


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where one invocation goes, and how many evictions its container had made by then."""

    pool: HTTPConnectionPool
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    evictions: int = 0


class Container(Protocol):
    """The part of a served endpoint that the gateway calls."""

    @property
    def variant(self) -> str:
        """The production variant's name."""

    @property
    def record(self) -> Record:
        """Where the invocations are counted."""

    @property
    def differences(self) -> list[str]:
        """Differences from the deployment, for want of a GPU."""

    @property
    def gauges(self) -> dict[str, float]:
        """Measures of the catalog as they stand."""

    def report(self) -> dict[str, object]:
        """The fields of the status beyond those of every container."""

    def close(self) -> None:
        """Release everyone who waits; called when its Triton has been stopped."""

    def route(
        self, target: str | None, seconds: float, *, is_retry: bool = False
    ) -> AbstractContextManager[Route]:
        """The way of one invocation, open as long as it takes; a target model is ready within `seconds`.

        `is_retry` marks the second try of an invocation, which is counted already.

        Raises:
            Refusal: the invocation does not fit the endpoint, or its target model is not ready in time.
            ModelRefusal: the container is down, or does not take the target model.
        """

    def make_room(self, target: str | None, seconds: float, *, since: int) -> bool:
        """After a lack of memory: whether there is room within `seconds` for another try.

        `since` is the `evictions` of the route that lacked it: who made room after that made it for all.
        """


class SingleModel:
    """A container with one repository, all of it loaded."""

    def __init__(
        self, triton: SupervisedTriton, variant: str, *, differences: list[str], record: Record
    ) -> None:
        self._triton, self.variant, self.differences, self.record = triton, variant, differences, record
        self.gauges: dict[str, float] = {}

    def report(self) -> dict[str, object]:
        """Nothing more."""
        return {}

    def close(self) -> None:
        """Nobody waits."""

    @contextmanager
    def route(self, target: str | None, seconds: float, *, is_retry: bool = False) -> Iterator[Route]:
        """The container's own route; see Container."""
        if target is not None:
            message = "TargetModel is for multi-model endpoints; this one has a single model"
            raise Refusal(400, "ValidationError", message)
        server = self._triton.ready
        if server is None:
            raise ModelRefusal(0, RESTART_MESSAGE)
        yield Route(pool=server.pool, path="/invocations")

    def make_room(self, target: str | None, seconds: float, *, since: int) -> bool:
        """There is nothing that could be unloaded."""
        return False


RESTART_MESSAGE = "The container is being restarted."
