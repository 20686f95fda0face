"""One endpoint that is served: its Triton, its container's ways, its folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fleet.local.calls import Calls
from fleet.local.containers import Container
from fleet.local.hosting import DeployedEndpoint
from fleet.local.metrics.scrape import TritonSource
from fleet.local.triton.container import departures, metrics_namespace
from fleet.local.triton.supervised import SupervisedTriton


@dataclass(frozen=True, kw_only=True)
class Served:
    """What the host keeps of an endpoint; `folder` is its work folder, deleted with it."""

    endpoint: DeployedEndpoint
    triton: SupervisedTriton
    container: Container
    folder: Path
    release: str
    calls: Calls = field(default_factory=Calls)

    def report(self) -> dict[str, object]:
        """What `fleet local status` shows of it."""
        return {
            "endpoint": self.endpoint.name,
            "configuration": self.endpoint.config_name,
            "state": str(self.triton.state),
            "restarts": self.triton.restarts,
            "differences": self._differences(),
            **self.container.report(),
        }

    def sources(self) -> Iterator[TritonSource]:
        """Where its Triton's metrics are, if they are to be published."""
        server, namespace = self.triton.server, metrics_namespace(self.endpoint.container.environment)
        if namespace and server is not None and self.triton.port == server.port:
            yield TritonSource(
                endpoint=self.endpoint.name,
                server=server.process.pid,
                port=server.metrics_port,
                namespace=namespace,
            )

    def gauges(self) -> Iterator[tuple[str, str, str, float]]:
        """The container's gauges, with the endpoint and the variant that they are of."""
        for measure, value in self.container.gauges.items():
            yield self.endpoint.name, self.endpoint.variant_name, measure, value

    def end(self) -> None:
        """Stop serving; return when nothing is left of it."""
        self.triton.stop()
        self.container.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _differences(self) -> list[str]:
        image = self.endpoint.container.image.rpartition(":")[2]
        server = f"image {image}: served by this machine's Triton {self.release}, on CPU"
        return [
            server,
            *self.container.differences,
            *departures(self.endpoint.container.environment),
            *self.endpoint.unlike,
        ]
