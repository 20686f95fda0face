"""One endpoint that is served: its Triton, its container's ways, its folder."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fleet_emulator.hosting import DeployedEndpoint
from triton_fleet.catalog.images import TRITON_REPOSITORY
from triton_fleet.catalog.metrics import endpoint_metric, instance_namespace
from triton_fleet.local.containers import Container
from triton_fleet.local.limitations import is_release_image
from triton_fleet.local.metrics.publisher import Gauge
from triton_fleet.local.metrics.scrape import TritonSource
from triton_fleet.local.state import log_name
from triton_fleet.local.triton.container import departures, metrics_namespace
from triton_fleet.local.triton.shared_container import is_shared
from triton_fleet.local.triton.supervisor import SupervisedTriton
from triton_fleet.spec.environment import ENVIRONMENT_TAG


class Calls:
    """Counts calls; may be used from several threads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    def begin(self) -> None:
        """One more is under way."""
        with self._condition:
            self._count += 1

    def end(self) -> None:
        """One is over."""
        with self._condition:
            self._count -= 1
            self._condition.notify_all()

    def wait_for_end(self, seconds: float) -> bool:
        """Whether none is under way, waiting for that for at most `seconds`."""
        with self._condition:
            return self._condition.wait_for(lambda: self._count == 0, seconds)


@dataclass(frozen=True, kw_only=True)
class RunningEndpoint:
    """An endpoint's record at the host; `folder` is its work folder, deleted with it.

    `assumptions` are lines on what is assumed of its image; `may_put` returns whether a role, an ARN, may
    publish metrics in a namespace.
    """

    endpoint: DeployedEndpoint
    triton: SupervisedTriton
    container: Container
    folder: Path
    release: str
    assumptions: tuple[str, ...] = ()
    may_put: Callable[[str, str], bool]
    calls: Calls = field(default_factory=Calls)

    def report(self) -> dict[str, object]:
        """Its entry in `fleet local status`."""
        return {
            "endpoint": self.endpoint.id.name,
            "account": self.endpoint.id.account,
            "region": self.endpoint.id.region,
            "log": deployed_log_name(self.endpoint),
            "configuration": self.endpoint.config_name,
            "state": str(self.triton.state),
            "restarts": self.triton.restarts,
            "differences": self._differences(),
            "missing_permissions": self._missing_permissions(),
            "problems": self.triton.problems,
            **self.container.report(),
        }

    def sources(self) -> Iterator[TritonSource]:
        """Where its Triton's metrics are, if they are to be published and its role may."""
        server, namespace = self.triton.ready, self._triton_namespace
        if namespace and server is not None and self.may_put(self.endpoint.role, namespace):
            yield TritonSource(
                endpoint=self.endpoint.id,
                server=server.process.pid,
                pool=server.metrics,
                namespace=namespace,
            )

    def gauges(self) -> Iterator[Gauge]:
        """The container's gauges, with the endpoint and the variant that they are of.

        Those of its instances are left out where its role may not publish them.
        """
        with_role = instance_namespace()
        may_put = self.may_put(self.endpoint.role, with_role)
        for measure, value in self.container.gauges.items():
            if may_put or endpoint_metric(measure).namespace != with_role:
                yield self.endpoint.id, self.endpoint.variant_name, measure, value

    def end(self) -> None:
        """Stop serving; return when nothing is left of it."""
        self.triton.stop()
        self.container.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _triton_namespace(self) -> str:
        return metrics_namespace(self.endpoint.container.environment)

    def _missing_permissions(self) -> list[str]:
        role, namespaces = self.endpoint.role, filter(None, (instance_namespace(), self._triton_namespace))
        return [
            f"no metrics in {namespace}: {role} may not put them (cloudwatch:PutMetricData)"
            for namespace in namespaces
            if not self.may_put(role, namespace)
        ]

    def _differences(self) -> list[str]:
        uri = self.endpoint.container.image
        is_release = is_release_image(uri)
        image = uri.rpartition("/")[2].removeprefix(f"{TRITON_REPOSITORY}:")
        programs = "nginx and " if is_shared(self.endpoint.container.environment) else ""
        instead = "" if is_release else "not run, but "
        server = f"image {image}: {instead}served by this machine's {programs}Triton {self.release}, on CPU"
        return [
            server,
            *self.assumptions,
            *self.container.differences,
            *departures(self.endpoint.container.environment),
            *self.endpoint.unlike,
        ]


def deployed_log_name(endpoint: DeployedEndpoint) -> str:
    """The `log_name` of an endpoint: its account and region stand in where its tags name no environment."""
    environment = endpoint.tags.get(ENVIRONMENT_TAG, "")
    # Anyone may have set the tag, and the name becomes a path.
    is_name = environment.isalnum()
    return log_name(
        environment if is_name else f"{endpoint.id.account}/{endpoint.id.region}", endpoint.id.name
    )
