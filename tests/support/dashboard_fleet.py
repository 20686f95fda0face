"""A local fleet without a Triton: a deployed dashboard, and a supervisor that publishes what tests record."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aws_cdk import App, Stack
from werkzeug.wrappers import Request, Response

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks
from tests.support.embedded_keys import KEYS
from tests.support.endpoint_ids import endpoint_id
from tests.support.fleet_folder import ROOT, FleetFolder
from triton_endpoints.endpoint.dashboard import EndpointDashboard
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.local.metrics.ask import METRICS
from triton_fleet.local.metrics.publisher import Publisher
from triton_fleet.local.metrics.recorder import Recorder
from triton_fleet.local.metrics.scrape import TritonSource
from triton_fleet.local.state import LocalState, Supervisor

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

ENDPOINT, VARIANT = "sentences", "AllTraffic"


@dataclass
class DashboardFleet:
    """The measurements, and where the `fleet` command finds them."""

    folder: FleetFolder
    aws: EmbeddedAws
    recorder: Recorder
    sources: list[TritonSource] = field(default_factory=list)
    publishes: bool = True

    def record_invocation(self, *, latency: float, has_failed: bool = False) -> None:
        """Record one invocation; the latency is in microseconds."""
        for measure, value in {
            "invocations": 1.0,
            "errors_5xx": float(has_failed),
            "model_latency": latency,
        }.items():
            self.recorder.record(endpoint_id(ENDPOINT), VARIANT, measure, value)

    def deploy(self, endpoint: ResolvedEndpoint) -> None:
        """Deploy the dashboard that the construct makes of an endpoint, in the endpoint's own stack."""
        app = App()
        stack = Stack(app, endpoint.stack)
        EndpointDashboard(stack, "Dashboard", endpoint=endpoint)
        template = app.synth().get_stack_by_name(endpoint.stack).template
        assert Stacks(self.aws).create(endpoint.stack, template["Resources"]) == "CREATE_COMPLETE"

    def fleet(
        self, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `fleet ARGUMENTS`, with an environment of its own if variables are given."""
        command = [str(Path(sys.executable).parent / "fleet"), *arguments]
        process = subprocess.run(
            command, cwd=self.folder.root, capture_output=True, text=True, check=False, env=variables
        )
        assert "Traceback" not in process.stderr, process.stderr
        return process

    def client(self, service: str) -> Any:
        """A boto3 client of the embedded AWS."""
        make: Any = local_session("us-east-1", KEYS).client
        return make(service, endpoint_url=self.aws.url)


@contextmanager
def dashboard_fleet(folder: FleetFolder) -> Iterator[DashboardFleet]:
    """A running fleet whose `local` environment has one endpoint, not deployed yet."""
    for name in ("package.json", "node_modules"):
        (folder.root / name).symlink_to(ROOT / name)
    folder.environment(name="local")
    folder.write(
        "locks/local/sentences.lock.yaml", (folder.root / "locks/dev/sentences.lock.yaml").read_text()
    )

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        requested_request = Request(environ)
        is_known = (requested_request.method, requested_request.path) == ("POST", METRICS)
        if is_known and fleet.publishes:
            publisher.publish_on_demand()
        return Response(status=200 if is_known and fleet.publishes else 503)(environ, start_response)

    aws = EmbeddedAws(RecordingHost(), answer, keys=KEYS)
    current_time = time.time()
    fleet = DashboardFleet(folder, aws, Recorder(lambda: current_time))
    publisher = Publisher(
        fleet.recorder,
        sources=lambda: fleet.sources,
        gauges=lambda: [],
        cloudwatch=lambda *_: fleet.client("cloudwatch"),
    )
    state = LocalState(folder.root)
    with ExitStack() as ends:
        ends.enter_context(state.hold_lock(threading.Event()))
        aws.start()
        ends.callback(aws.stop)
        state.announce(
            Supervisor(pid=os.getpid(), url=aws.url, account="123456789012", region="us-east-1", keys=KEYS)
        )
        yield fleet
