"""One run of a real Triton over a staged repository."""

from __future__ import annotations

import socket
import threading
import time
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import urllib3

from fleet_emulator.hosting import HostingError
from triton_fleet.local.triton.container import (
    SAGEMAKER_PORT,
    server_environment,
    service_ports,
    start_command,
)
from triton_fleet.local.triton.failure import described_end, explain, is_loaded, still_loading
from triton_fleet.local.triton.network import PrivateNetwork
from triton_fleet.local.triton.process import ProcessGroup
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.shared_container import is_shared, tritons_lines, tritons_pid

SECONDS_TO_CONNECT = 2.0
_SECONDS_BETWEEN_PINGS = 0.05


class TritonServer:
    """A tritonserver in SageMaker mode, in a network of its own: no other process reaches its ports."""

    def __init__(
        self, runtime: TritonRuntime, repository: Path, environment: Mapping[str, str], *, log: Path
    ) -> None:
        self._runtime, self._repository, self._environment = runtime, repository.absolute(), environment
        self._log, self._log_start = log, 0
        self._lock = threading.Lock()
        self._is_stopped = False
        self._process: ProcessGroup | None = None
        self._network = PrivateNetwork(on_loss=partial(self.stop, grace=0.0))
        services = service_ports(environment)
        self.ports = (SAGEMAKER_PORT, *services.values())
        """Where it listens once it is ready."""
        self.pool = self._network.pool(SAGEMAKER_PORT)
        """Connections to where /ping and /invocations answer."""
        self.metrics = self._network.pool(services.get("metrics", 0))
        """Connections to where /metrics answers, if the environment allows metrics."""

    def start(self) -> None:
        """Start the process; return at once.

        Raises:
            HostingError: the container would not start with this repository and environment.
        """
        with self._lock:
            if self._is_stopped:
                raise HostingError("the server was stopped")
            shm_prefix = f"triton_fleet_{uuid.uuid4().hex[:12]}_"
            command = start_command(self._runtime, self._repository, self._environment, shm_prefix=shm_prefix)
            environment = server_environment(self._runtime, self._repository, self._environment)
            self._log_start = self._log.stat().st_size if self._log.exists() else 0
            self._process = ProcessGroup(
                command,
                environment,
                log=self._log,
                cwd=self._repository.parent,
                shm_prefix=shm_prefix,
                network=self._network,
            )

    def wait_ready(self, timeout: float) -> None:
        """Return when /ping reports that the models are loaded; a server that ends, ends the wait.

        Raises:
            HostingError: it ended, or took longer than `timeout` seconds and was stopped.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.process.dead.wait(_SECONDS_BETWEEN_PINGS):
                raise HostingError(self._failure(f"it {self.end()}", is_cause=self.is_killed))
            if self._is_ready():
                return
        loading = ", ".join(still_loading(self._log_text(), self._repository))
        problem = self._failure(
            f"not ready after {timeout:g} s" + (f", still loading {loading}" if loading else "")
        )
        self.stop()
        raise HostingError(problem)

    @property
    def process(self) -> ProcessGroup:
        """The process; its `dead` event is set when it has ended."""
        if self._process is None:
            raise RuntimeError("the server was not started")
        return self._process

    @property
    def pid(self) -> int:
        """The process of tritonserver itself, which a shared container's program has started."""
        return tritons_pid(self.process.pid) if is_shared(self._environment) else self.process.pid

    def end(self) -> str:
        """How the process ended, as the end of a sentence; of use once it is dead."""
        code = self.process.returncode
        if code is None or self.process.is_stopped:
            return "gave no answer and was ended"
        return described_end(code)

    @property
    def is_killed(self) -> bool:
        """Whether a signal has ended it that nobody here has sent; of use once it is dead."""
        return not self.process.is_stopped and (self.process.returncode or 0) < 0

    def stop(self, grace: float = 10.0) -> None:
        """End the server and what it started, by force after `grace` seconds; it cannot be started again."""
        with self._lock:
            self._is_stopped = True
            process = self._process
        if process is not None:
            process.stop(grace)

    def answers(self, timeout: float) -> bool:
        """Whether /ping is answered within `timeout` seconds: with 400 it is not ready, but not silent."""
        try:
            self.pool.request("GET", "/ping", timeout=timeout)
        except urllib3.exceptions.HTTPError:
            return False
        return True

    def _is_ready(self) -> bool:
        """Whether it is ready, and listens at all its ports: metrics start last."""
        try:
            if self.pool.request("GET", "/ping", timeout=SECONDS_TO_CONNECT).status != 200:
                return False
            for port in self.ports:
                self.connect(port).close()
        except (OSError, urllib3.exceptions.HTTPError):
            return False
        return True

    def connect(self, port: int) -> socket.socket:
        """A connection to a port of the server's network.

        Raises:
            OSError: no process listens there.
        """
        return self._network.connect(port, SECONDS_TO_CONNECT)

    def log_end(self) -> int:
        """Where in the log the next line will be."""
        return self._log.stat().st_size

    def reason(self, repository: Path, since: int) -> str:
        """Why what was loaded from a repository failed, from the log; empty where the log has no reason."""
        backends = sorted(path.name for path in self._runtime.backend_directory.iterdir())
        return explain(self._log_text(since), repository, backends)

    def has_loaded(self, model: str) -> bool:
        """Whether the log reports a model as loaded, by the name that it is registered under."""
        return is_loaded(self._log_text(), model)

    def _log_text(self, since: int | None = None) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_start if since is None else since)
            text = log.read().decode("utf-8", "replace")
        return tritons_lines(text) if is_shared(self._environment) else text

    def _failure(self, end: str, *, is_cause: bool = False) -> str:
        reason = "" if is_cause else self.reason(self._repository, self._log_start)
        return f"Triton did not start: {reason or end} (log: {self._log})"
