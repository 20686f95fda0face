"""A host of endpoints that only remembers what it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fleet_emulator.hosting import DeployedEndpoint, EndpointId, HostingError


class RecordingHost:
    """Serves nothing; fails, for one endpoint or for all, or waits when told to."""

    def __init__(self) -> None:
        self.served: list[DeployedEndpoint] = []
        self.removals: list[str] = []
        self.failure = ""
        self.failures: dict[str, str] = {}
        self.may_finish = threading.Event()
        self.may_finish.set()
        self.may_scale = threading.Event()
        self.may_scale.set()
        self.serving_hook: Callable[[], None] | None = None

    def serve(self, endpoint: DeployedEndpoint) -> None:
        self.may_finish.wait(30)
        if self.failure == "defect":
            raise OSError(28, "no space left")
        if self.failure:
            raise HostingError(self.failure)
        if endpoint.id.name in self.failures:
            raise HostingError(self.failures[endpoint.id.name])
        if self.serving_hook is not None:
            self.serving_hook()
        self.served.append(endpoint)

    def scale(self, id: EndpointId) -> None:
        self.may_scale.wait(300)

    def remove(self, id: EndpointId) -> None:
        self.removals.append(id.name)
