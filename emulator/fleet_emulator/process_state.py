"""The state of this process: its accounts, its host, and the lock by which requests take turns."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from fleet_emulator.accounts import Accounts
from fleet_emulator.function_output import DeployedCode
from fleet_emulator.hosting import EndpointHost
from fleet_emulator.product import local_session

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class Stoppable(Protocol):
    """A build or job that may be stopped from any thread."""

    def stop(self) -> None:
        """Have it end."""


@dataclass(kw_only=True)
class ProcessState:
    """Who hosts the endpoints, the accounts, what could not be hosted, functions' code, what is under way.

    `url` is where the embedded AWS itself answers, known as soon as it does; `stopping` is set when it stops.
    """

    host: EndpointHost
    accounts: Accounts
    url: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)
    functions: DeployedCode = field(default_factory=DeployedCode)
    skipped: list[str] = field(default_factory=list)
    _runs: list[threading.Thread] = field(default_factory=list)
    _tasks: list[weakref.ref[Stoppable]] = field(default_factory=list)

    def s3(self, account: str, region: str) -> S3Client:
        """A client of an account's embedded S3."""
        return local_session(region, self.accounts.keys_of(account)).client("s3", endpoint_url=self.url)

    def skip(self, resource: str) -> None:
        """Record a resource that is not hosted, once."""
        if resource not in self.skipped:
            self.skipped.append(resource)

    def spawn(self, work: Callable[[], None], *, name: str) -> threading.Thread:
        """Run `work` in the background."""
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._runs = [run for run in self._runs if run.is_alive()]
        self._runs.append(thread)
        thread.start()
        return thread

    def stop_at_end(self, task: Stoppable) -> None:
        """Have a build or job stopped when the embedded AWS stops."""
        self._tasks = [task for task in self._tasks if task() is not None]
        self._tasks.append(weakref.ref(task))

    def wait_for_runs(self, *, seconds: float) -> None:
        """Have waiting given up and tasks stopped; return when all is over, or after `seconds` for each."""
        self.stopping.set()
        for task in self._tasks:
            if (alive := task()) is not None:
                alive.stop()
        for run in self._runs:
            run.join(seconds)


_current: list[ProcessState] = []


def enter(running: ProcessState) -> None:
    """Make it the embedded AWS of this process.

    Raises:
        RuntimeError: there is one already.
    """
    if _current:
        raise RuntimeError("an embedded AWS is already running in this process")
    _current.append(running)


def leave() -> None:
    """End it; nothing happens when there is none."""
    for running in _current:
        running.functions.close()
    _current.clear()


def current() -> ProcessState:
    """The embedded AWS of this process."""
    return _current[0]


_turn = threading.Lock()


@contextmanager
def turn() -> Iterator[None]:
    """Work on moto's state alone; turns do not nest."""
    with _turn:
        yield


@contextmanager
def handed_over() -> Iterator[None]:
    """Within one's turn: let others work meanwhile."""
    _turn.release()
    try:
        yield
    finally:
        _turn.acquire()
