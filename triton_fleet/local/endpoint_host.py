"""Hosts the embedded AWS's endpoints: one real Triton each, from what was deployed and nothing else."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fleet_emulator.hosting import DeployedContainer, DeployedEndpoint, EndpointId, HostingError
from triton_fleet.local.containers import SECONDS_TO_ANSWER, Container, SingleModel
from triton_fleet.local.image_contents import ImageContents, named_contents
from triton_fleet.local.limitations import image_limit
from triton_fleet.local.metrics.publisher import Gauge
from triton_fleet.local.metrics.scrape import TritonSource
from triton_fleet.local.model_data import fetch_model_data, fetch_model_files
from triton_fleet.local.multi_model.container import MultiModel
from triton_fleet.local.running_endpoint import RunningEndpoint, deployed_log_name
from triton_fleet.local.state import LocalState
from triton_fleet.local.triton.container import MULTI_MODEL
from triton_fleet.local.triton.model_backend import model_backends, stand_ins
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.staging import stage
from triton_fleet.local.triton.supervisor import SupervisedTriton
from triton_fleet.spec.environment import LocalLimits

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


STAGING_FOLDER = "staged"


class TritonHost:
    """Serves endpoints; an update starts the new Triton, moves the calls, and ends the old one when idle."""

    def __init__(
        self,
        state: LocalState,
        runtime: TritonRuntime,
        *,
        s3: Callable[[str, str], S3Client],
        limits: Callable[[], LocalLimits],
        record: Callable[[EndpointId, str, str, float], None],
        may_put: Callable[[str, str], bool],
        contents: Callable[[DeployedEndpoint], ImageContents] = named_contents,
    ) -> None:
        """Serve with one runtime.

        Args:
            state: Where logs and work folders are.
            runtime: This machine's Triton.
            s3: A client of the embedded AWS, by account and region; it need not run yet.
            limits: What a multi-model endpoint may take; asked at each load.
            record: Counts a value: endpoint, variant, measure of the catalog, value.
            may_put: Whether a role, an ARN, may publish metrics in a namespace; asked at each publishing.
            contents: What the image of an endpoint is assumed to have. Default: what its name shows.
        """
        self._state, self._runtime, self._s3 = state, runtime, s3
        self._limits, self._record, self._may_put = limits, record, may_put
        self._contents = contents
        self._endpoints: dict[EndpointId, RunningEndpoint] = {}
        self._starting_tritons: set[SupervisedTriton] = set()
        self._former_endpoints: list[RunningEndpoint] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def serve(self, endpoint: DeployedEndpoint) -> None:
        """Serve the endpoint in place of what its id served before; return when it answers.

        Raises:
            HostingError: it cannot be served; what its id served before is still served.
        """
        running_endpoint = self._start(endpoint)
        with self._lock:
            before = running_endpoint if self._is_closed else self._endpoints.get(endpoint.id)
            if not self._is_closed:
                self._endpoints[endpoint.id] = running_endpoint
        if before is not None and before is not running_endpoint:
            self._drain(before)
        if before is running_endpoint:
            running_endpoint.end()
            raise HostingError("the local fleet was stopped")

    def _drain(self, running_endpoint: RunningEndpoint) -> None:
        """End what nothing is sent to any more, when its calls are answered."""
        with self._lock:
            self._former_endpoints.append(running_endpoint)
        running_endpoint.calls.wait_for_end(SECONDS_TO_ANSWER)
        with self._lock:
            is_draining = running_endpoint in self._former_endpoints
            if is_draining:
                self._former_endpoints.remove(running_endpoint)
        if is_draining:
            running_endpoint.end()

    def scale(self, id: EndpointId) -> None:
        """Nothing: one Triton serves the endpoint, however many instances it has."""

    def remove(self, id: EndpointId) -> None:
        """Stop serving the endpoint; an unknown id is ignored."""
        with self._lock:
            running_endpoint = self._endpoints.pop(id, None)
        if running_endpoint is not None:
            running_endpoint.end()

    def close(self) -> None:
        """Stop serving everything, and give up what is being started."""
        with self._lock:
            self._is_closed = True
            tritons, former = list(self._starting_tritons), self._former_endpoints
            self._former_endpoints = []
        for running_endpoint in former:
            running_endpoint.end()
        for triton in tritons:
            triton.stop()
        for id in list(self._endpoints):
            self.remove(id)

    @contextmanager
    def open_call(self, id: EndpointId) -> Iterator[Container | None]:
        """Where an invocation of the endpoint goes; an update lets it come to its end."""
        with self._lock:
            served = self._endpoints.get(id)
            if served is not None:
                served.calls.begin()
        if served is None:
            yield None
            return
        try:
            yield served.container
        finally:
            served.calls.end()

    def report(self) -> list[dict[str, object]]:
        """The served endpoints, as `fleet local status` shows them."""
        return [running_endpoint.report() for running_endpoint in self._all_endpoints()]

    def sources(self) -> list[TritonSource]:
        """The Tritons whose metrics are to be published."""
        return [source for running_endpoint in self._all_endpoints() for source in running_endpoint.sources()]

    def gauges(self) -> list[Gauge]:
        """Measures as they stand: endpoint, variant, measure, value."""
        return [gauge for running_endpoint in self._all_endpoints() for gauge in running_endpoint.gauges()]

    def _all_endpoints(self) -> list[RunningEndpoint]:
        with self._lock:
            return list(self._endpoints.values())

    def _start(self, endpoint: DeployedEndpoint) -> RunningEndpoint:
        container = endpoint.container
        if limit := image_limit(container.image, container.environment):
            raise HostingError(limit)
        modes = {"SingleModel": self._single_model, "MultiModel": self._multi_model}
        if container.mode not in modes:
            raise HostingError(f"mode {container.mode} is not served on this machine")
        with self._state.endpoint_log(deployed_log_name(endpoint)).open("a") as lines:
            lines.write(f"--- {endpoint.config_name} serves {container.model_data_url}\n")
        folder = self._work_folder(endpoint)
        try:
            contents = self._contents(endpoint)
            runtime = self._runtime.for_release(contents.release, contents.packages)
            triton, served = modes[container.mode](runtime, endpoint, folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise HostingError(f"this machine could not serve it: {error}") from error
            raise
        return RunningEndpoint(
            endpoint=endpoint,
            triton=triton,
            container=served,
            folder=folder,
            release=runtime.release,
            assumptions=_assumptions(runtime, container, folder / STAGING_FOLDER),
            may_put=self._may_put,
        )

    def _single_model(
        self, runtime: TritonRuntime, endpoint: DeployedEndpoint, folder: Path
    ) -> tuple[SupervisedTriton, Container]:
        container = endpoint.container
        fetch = fetch_model_files if container.files else fetch_model_data
        data = fetch(self._s3_of(endpoint), container.model_data_url, folder)
        model_folder = folder / STAGING_FOLDER
        differences = [*map(str, stage(data, model_folder)), *stand_ins(model_folder)]
        triton = self._start_triton(runtime, endpoint, model_folder, container.environment)
        record = partial(self._record, endpoint.id, endpoint.variant_name)
        return triton, SingleModel(triton, endpoint.variant_name, differences=differences, record=record)

    def _multi_model(
        self, runtime: TritonRuntime, endpoint: DeployedEndpoint, folder: Path
    ) -> tuple[SupervisedTriton, Container]:
        container = endpoint.container
        empty = folder / "no-models"
        empty.mkdir()
        # SageMaker sets this variable itself where the Model's mode is MultiModel.
        triton = self._start_triton(runtime, endpoint, empty, {**container.environment, MULTI_MODEL: "true"})
        return triton, MultiModel(
            triton,
            endpoint.variant_name,
            prefix=container.model_data_url,
            folder=folder / "models",
            s3=self._s3_of(endpoint),
            limits=self._limits,
            record=partial(self._record, endpoint.id, endpoint.variant_name),
        )

    def _s3_of(self, endpoint: DeployedEndpoint) -> S3Client:
        return self._s3(endpoint.id.account, endpoint.id.region)

    def _work_folder(self, endpoint: DeployedEndpoint) -> Path:
        """A new one for each start: what serves now may have the same configuration."""
        folder = self._state.work / endpoint.id.name
        folder.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=folder, prefix=f"{endpoint.config_name}-"))

    def _start_triton(
        self,
        runtime: TritonRuntime,
        endpoint: DeployedEndpoint,
        repository: Path,
        environment: Mapping[str, str],
    ) -> SupervisedTriton:
        log = self._state.endpoint_log(deployed_log_name(endpoint))
        triton = SupervisedTriton(runtime, repository, environment, log=log)
        with self._lock:
            self._starting_tritons.add(triton)
        try:
            triton.start()
        finally:
            with self._lock:
                self._starting_tritons.discard(triton)
        return triton


def _assumptions(runtime: TritonRuntime, container: DeployedContainer, model_folder: Path) -> tuple[str, ...]:
    """A line on the packages of Python models, where there are any, or may be."""
    has_python_models = container.mode == "MultiModel" or "python" in model_backends(model_folder).values()
    return (str(runtime.python),) if has_python_models else ()
