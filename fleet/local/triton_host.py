"""Hosts the embedded AWS's endpoints: one real Triton each, from what was deployed and nothing else."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.local.gateway import Target
from fleet.local.hosting import DeployedEndpoint, HostingError
from fleet.local.model_data import fetch_model_data
from fleet.local.state import LocalState
from fleet.local.triton.container import departures
from fleet.local.triton.runtime import TritonRuntime
from fleet.local.triton.staging import stage
from fleet.local.triton.supervised import SupervisedTriton

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

IMAGE = "sagemaker-tritonserver"


@dataclass(frozen=True, kw_only=True)
class Served:
    """One endpoint that is served: its Triton, its work folder, and what differs from SageMaker."""

    endpoint: DeployedEndpoint
    triton: SupervisedTriton
    folder: Path
    differences: tuple[str, ...]


class TritonHost:
    """Serves single-model endpoints; an update starts the new Triton before it ends the old one."""

    def __init__(self, state: LocalState, runtime: TritonRuntime, s3: Callable[[], S3Client]) -> None:
        self._state, self._runtime, self._s3 = state, runtime, s3
        self._served: dict[str, Served] = {}
        self._starting: set[SupervisedTriton] = set()
        self._lock = threading.Lock()

    def serve(self, endpoint: DeployedEndpoint) -> None:
        """Serve the endpoint in place of what its name served before; return when it answers.

        Raises:
            HostingError: it cannot be served; what its name served before goes on.
        """
        served = self._start(endpoint)
        with self._lock:
            before = self._served.get(endpoint.name)
            self._served[endpoint.name] = served
        if before is not None:
            _end(before)

    def remove(self, name: str) -> None:
        """Stop serving the endpoint; an unknown name is no error."""
        with self._lock:
            served = self._served.pop(name, None)
        if served is not None:
            _end(served)

    def close(self) -> None:
        """Stop serving everything, and give up what is being started."""
        with self._lock:
            starting = list(self._starting)
        for triton in starting:
            triton.stop()
        for name in list(self._served):
            self.remove(name)

    def find(self, name: str) -> Target | None:
        """Where the endpoint's invocations go."""
        with self._lock:
            served = self._served.get(name)
        if served is None:
            return None
        return Target(port=served.triton.port, variant=served.endpoint.variant_name)

    def report(self) -> list[dict[str, object]]:
        """What is served, as `fleet local status` shows it."""
        with self._lock:
            return [
                {
                    "endpoint": served.endpoint.name,
                    "configuration": served.endpoint.config_name,
                    "state": str(served.triton.state),
                    "restarts": served.triton.restarts,
                    "differences": list(served.differences),
                }
                for served in self._served.values()
            ]

    def _start(self, endpoint: DeployedEndpoint) -> Served:
        container = endpoint.container
        if f"/{IMAGE}:" not in container.image:
            raise HostingError(f"only {IMAGE} images are served on this machine, not {container.image}")
        if container.mode != "SingleModel":
            raise HostingError(f"mode {container.mode} is not served on this machine")
        folder = self._work_folder(endpoint)
        try:
            data = fetch_model_data(self._s3(), container.model_data_url, folder)
            rewrites = stage(data, folder / "staged")
            log = self._state.endpoint_log(endpoint.name)
            with log.open("a") as lines:
                lines.write(f"--- {endpoint.config_name} serves {container.model_data_url}\n")
            triton = SupervisedTriton(self._runtime, folder / "staged", container.environment, log=log)
            self._start_triton(triton)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise HostingError(f"this machine could not serve it: {error}") from error
            raise
        release = container.image.rpartition(":")[2]
        server = f"image {release}: served by this machine's Triton {self._runtime.release}, on CPU"
        rewritten = (str(rewrite) for rewrite in rewrites)
        differences = (server, *rewritten, *departures(container.environment))
        return Served(endpoint=endpoint, triton=triton, folder=folder, differences=differences)

    def _work_folder(self, endpoint: DeployedEndpoint) -> Path:
        """A new one for each start: what serves now may have the same configuration."""
        folder = self._state.folder / "endpoints" / endpoint.name
        folder.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=folder, prefix=f"{endpoint.config_name}-"))

    def _start_triton(self, triton: SupervisedTriton) -> None:
        with self._lock:
            self._starting.add(triton)
        try:
            triton.start()
        finally:
            with self._lock:
                self._starting.discard(triton)


def _end(served: Served) -> None:
    served.triton.stop()
    shutil.rmtree(served.folder, ignore_errors=True)
