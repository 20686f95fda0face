"""One run of a real Triton over a staged repository."""

from __future__ import annotations

import http.client
import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

import psutil

from fleet.catalog.front_end import safe_ports, services
from fleet.local.hosting import HostingError
from fleet.local.triton.container import LOOPBACK, moved_services, server_environment, start_command
from fleet.local.triton.failure import explain, is_loaded, port_was_taken, still_loading
from fleet.local.triton.ports import free_ports
from fleet.local.triton.process import ProcessGroup
from fleet.local.triton.runtime import TritonRuntime

_SECONDS_BETWEEN_PINGS = 0.05
_STARTS = 3  # a free port may be taken before Triton, which loads its models first, opens it


class TritonServer:
    """A tritonserver in SageMaker mode, on ports of its own."""

    def __init__(
        self, runtime: TritonRuntime, repository: Path, environment: Mapping[str, str], *, log: Path
    ) -> None:
        self._runtime, self._repository, self._environment = runtime, repository.absolute(), environment
        self._log, self._log_start = log, 0
        self._lock = threading.Lock()
        self._stopped = False
        self._process: ProcessGroup | None = None
        self._ports: set[int] = set()
        self.port = 0
        """Where /ping and /invocations answer."""
        self.metrics_port = 0
        """Where /metrics answers, if the environment allows metrics."""

    def start(self) -> None:
        """Start the process; return at once.

        Raises:
            HostingError: the container would not start with this repository and environment.
        """
        with self._lock:
            if self._stopped:
                raise HostingError("the server was stopped")
            [self.port] = free_ports(1)
            names = [service.name for service in services()]
            service_ports = dict(zip(names, free_ports(len(names), safe_ports()), strict=True))
            self.metrics_port = service_ports["metrics"]
            moved = moved_services(self._environment)
            self._ports = {self.port, *(service_ports[each.service.name] for each in moved)}
            shm_prefix = f"triton_fleet_{uuid.uuid4().hex[:12]}_"
            command = start_command(
                self._runtime,
                self._repository,
                self._environment,
                sagemaker_port=self.port,
                service_ports=service_ports,
                shm_prefix=shm_prefix,
            )
            environment = server_environment(self._runtime, self._repository, self._environment)
            self._log_start = self._log.stat().st_size if self._log.exists() else 0
            self._process = ProcessGroup(
                command, environment, log=self._log, cwd=self._repository.parent, shm_prefix=shm_prefix
            )

    def wait_ready(self, timeout: float) -> None:
        """Return when /ping says that the models are loaded; a server that ends, ends the wait.

        Raises:
            HostingError: it ended, or took longer than `timeout` seconds and was stopped.
        """
        deadline = time.monotonic() + timeout
        starts = 1
        while time.monotonic() < deadline:
            if self.process.dead.wait(_SECONDS_BETWEEN_PINGS):
                if starts == _STARTS or not port_was_taken(self._said()):
                    raise HostingError(self._failure(f"it ended with exit code {self.process.returncode}"))
                starts += 1
                self.start()
            elif self._answers():
                return
        loading = ", ".join(still_loading(self._said(), self._repository))
        problem = self._failure(
            f"not ready after {timeout:g} s" + (f", still loading {loading}" if loading else "")
        )
        self.stop()
        raise HostingError(problem)

    @property
    def process(self) -> ProcessGroup:
        """The process; its `dead` event tells when it has ended."""
        if self._process is None:
            raise RuntimeError("the server was not started")
        return self._process

    def stop(self, grace: float = 10.0) -> None:
        """End the server and what it started, by force after `grace` seconds; it cannot be started again."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is not None:
            process.stop(grace)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=2.0)
        try:
            connection.request("GET", "/ping")
            return connection.getresponse().status == 200 and self._listens()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _listens(self) -> bool:
        """Whether this server has all its ports: one that was faster may answer, and metrics start last."""
        try:
            sockets = psutil.Process(self.process.pid).net_connections("tcp")
        except psutil.Error:
            return False
        return self._ports <= {each.laddr.port for each in sockets if each.status == psutil.CONN_LISTEN}

    def log_end(self) -> int:
        """Where in the log the next line will be."""
        return self._log.stat().st_size

    def reason(self, repository: Path, since: int) -> str:
        """Why what was loaded from a repository failed, from the log; empty where it does not say."""
        backends = sorted(path.name for path in self._runtime.backend_directory.iterdir())
        return explain(self._said(since), repository, backends)

    def has_loaded(self, model: str) -> bool:
        """Whether the log says that a model was loaded, by the name that it is registered under."""
        return is_loaded(self._said(), model)

    def _said(self, since: int | None = None) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_start if since is None else since)
            return log.read().decode("utf-8", "replace")

    def _failure(self, end: str) -> str:
        reason = self.reason(self._repository, self._log_start)
        return f"Triton did not start: {reason or end} (log: {self._log})"
