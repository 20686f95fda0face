"""A Triton that is started again when it ends or goes silent, as SageMaker does with a container."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from fleet_emulator.hosting import HostingError
from triton_fleet.local.triton.failure import ended_models
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY = 60.0  # seconds after which a server that ends is no longer part of a crash loop
PING_TIMEOUT = 2.0  # source: SageMaker developer guide, your-algorithms-inference-code, health check requests
PING_INTERVAL, SILENT_PINGS = 5.0, 12
"""Seconds between pings, and how many in a row without any answer mean that it will not answer again.

SageMaker publishes no number. A minute is what an invocation may take: by then a busy front end has a thread.
"""


class TritonState(StrEnum):
    """State of a supervised Triton; `failed` means that the last start did not succeed."""

    START = "starting"
    READY = "ready"
    RESTART = "restarting"
    FAILURE = "failed"
    STOP = "stopped"


class SupervisedTriton:
    """Keeps one TritonServer alive until it is stopped; may be used from several threads."""

    def __init__(
        self,
        runtime: TritonRuntime,
        repository: Path,
        environment: Mapping[str, str],
        *,
        log: Path,
        timeout: float = 120.0,
        ping_interval: float = PING_INTERVAL,
    ) -> None:
        """Args: what TritonServer wants, how many seconds a start may take, and seconds between pings."""
        self._parts = (runtime, repository, environment)
        self._log, self._timeout, self._ping_interval = log, timeout, ping_interval
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        self._stop_event = threading.Event()
        self.server: TritonServer | None = None
        """The current server, which may not answer yet or any more."""
        self.state = TritonState.START
        self.restarts = 0
        """How often the server was ready again after it had ended by itself."""
        self._ended_models: dict[int, str] = {}

    @property
    def ready(self) -> TritonServer | None:
        """The server that answers; None while none does."""
        with self._lock:
            return self.server if self.state is TritonState.READY else None

    @property
    def problems(self) -> list[str]:
        """Problems of a server that answers: processes of models that Triton does not start again."""
        with self._lock:
            return list(self._ended_models.values()) if self.state is TritonState.READY else []

    def wait_for(self, state: TritonState, timeout: float) -> bool:
        """Whether that state was reached within `timeout` seconds."""
        with self._condition:
            return self._condition.wait_for(lambda: self.state is state, timeout)

    def start(self) -> None:
        """Start the first server; return when it is ready.

        Raises:
            HostingError: it does not start; nothing of it is left and nothing is tried again.
        """
        try:
            server = self._attempt()
        except BaseException:
            self._become(TritonState.FAILURE)
            raise
        threading.Thread(target=self._keep, args=(server,), name="triton-supervisor", daemon=True).start()

    def stop(self) -> None:
        """End the server and do not start it again."""
        with self._condition:
            self._stop_event.set()
            server = self.server
        if server is not None:
            server.stop()
        self._become(TritonState.STOP)

    def _attempt(self) -> TritonServer:
        with self._lock:
            self.server = server = TritonServer(*self._parts, log=self._log)
        try:
            if self._stop_event.is_set():
                raise HostingError("the server was stopped")
            server.start()
            server.wait_ready(self._timeout)
        except BaseException:
            server.stop()
            raise
        self._become(TritonState.READY)
        return server

    def _keep(self, server: TritonServer) -> None:
        pause = FIRST_PAUSE
        while True:
            ready = time.monotonic()
            self._watch(server)
            if time.monotonic() - ready > STEADY:
                pause = FIRST_PAUSE
            self._become(TritonState.RESTART)
            server.stop(grace=0.0)  # a stopped process takes no other signal than the last one
            if not self._stop_event.is_set():
                self._note(f"Triton, process {server.process.pid}, {server.end()}; it is restarted")
            with self._lock:
                self._ended_models = {}
            while True:
                if self._stop_event.wait(pause):
                    return
                pause = min(pause * 2, LONGEST_PAUSE)
                try:
                    server = self._attempt()
                    break
                except (HostingError, OSError) as error:
                    self._become(TritonState.FAILURE)
                    self._note(f"{error}; trying again")
            with self._lock:
                self.restarts += 1

    def _watch(self, server: TritonServer) -> None:
        """Return when the server has ended, or has not answered any of several pings."""
        silent = 0
        while silent < SILENT_PINGS and not server.process.dead.wait(self._ping_interval):
            silent = 0 if server.answers(PING_TIMEOUT) else silent + 1
            self._look_at_models(server)

    def _look_at_models(self, server: TritonServer) -> None:
        """Log processes that have ended; /ping still answers 200, so SageMaker does not restart them either.

        Source: triton-inference-server/server issues 8604 and 7230; tried with 24.10.
        """
        for pid, end in ended_models(server.pid).items():
            with self._lock:
                is_new = pid not in self._ended_models
                message = (
                    f"the process {pid} of a model {end}; Triton does not start it again, so its calls fail"
                )
                self._ended_models[pid] = message
            if is_new:
                self._note(message)

    def _note(self, message: str) -> None:
        # The server is watched even while the disk is full.
        with suppress(OSError), self._log.open("a") as log:
            log.write(f"--- {message}\n")

    def _become(self, state: TritonState) -> None:
        with self._condition:
            if self._stop_event.is_set():
                state = TritonState.STOP
            self.state = state
            self._condition.notify_all()
