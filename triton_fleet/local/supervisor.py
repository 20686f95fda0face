"""The background process of the local fleet: embedded AWS, gateway and the endpoints' Tritons.

It runs until SIGTERM, and writes to a file descriptor, in one JSON line, where it is or why it cannot run.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.config import Config
from werkzeug.wrappers import Response

from fleet_emulator.api import EmbeddedAws, may_put_metrics
from triton_fleet.awsapi.emulator import LOCAL_FLEET_HEADER, Keys, local_session
from triton_fleet.core.reads import limit_garbage_collection
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.local.endpoint_host import TritonHost
from triton_fleet.local.gateway import Gateway
from triton_fleet.local.image_contents import fleet_contents
from triton_fleet.local.metrics.ask import METRICS
from triton_fleet.local.metrics.publisher import Publisher
from triton_fleet.local.metrics.recorder import Recorder
from triton_fleet.local.state import LocalState, Supervisor
from triton_fleet.local.status import STATUS
from triton_fleet.local.triton.network import CALLS
from triton_fleet.local.triton.runtime import find_runtime
from triton_fleet.project.project import open_project
from triton_fleet.spec.environment import LOCAL, Environment, LocalLimits

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_s3.client import S3Client


SECONDS_BETWEEN_LOOKS = 2.0
OF_THE_GATEWAY = Config(
    max_pool_connections=CALLS, connect_timeout=2, read_timeout=15, retries={"total_max_attempts": 1}
)
"""For S3: each call asks whether an archive exists, and has little time for it."""


def run(root: Path, announce: int) -> None:
    """Serve until SIGTERM, or until the state folder is gone; no port and no process is left behind."""
    state, stop = LocalState(root), threading.Event()
    for end in (signal.SIGTERM, signal.SIGINT):
        signal.signal(end, lambda _number, _frame: stop.set())
    with ExitStack() as ends:
        try:
            can_be_found = ends.enter_context(state.hold_lock(stop))
            tempfile.tempdir = str(state.temporary)  # of this process alone, and removed with the rest
            environment = open_project(root, LOCAL).environment
            keys = Keys.random()
            url = start_local_fleet(state, environment, keys, ends)
            # Nothing of moto and botocore is ever garbage, and to look for it stops every call for a while.
            limit_garbage_collection()
        except (CannotRunError, FindingsError) as error:
            _announce(announce, {"problem": str(error)})
            return
        location = {"url": url, "account": environment.account, "region": environment.region}
        state.announce(Supervisor(pid=os.getpid(), keys=keys, **location))
        _announce(announce, location)
        while not stop.wait(SECONDS_BETWEEN_LOOKS) and can_be_found():
            pass


def start_local_fleet(state: LocalState, environment: Environment, keys: Keys, ends: ExitStack) -> str:
    """Start the embedded AWS, as the account of `local`, with gateway, host and metrics; return its URL.

    Raises:
        CannotRunError: this machine cannot run Triton.
    """

    def session(account: str, region: str) -> boto3.Session:
        return local_session(region, aws.keys_of(account))  # one for each client: threads may not share it

    def s3(account: str, region: str) -> S3Client:
        return session(account, region).client("s3", endpoint_url=aws.url, config=OF_THE_GATEWAY)

    def cloudwatch(account: str, region: str) -> CloudWatchClient:
        return session(account, region).client("cloudwatch", endpoint_url=aws.url)

    recorder = Recorder()
    host = TritonHost(
        state,
        find_runtime(state.cache),
        s3=s3,
        limits=Limits(state.root),
        record=recorder.record,
        may_put=may_put_metrics,
        contents=partial(fleet_contents, state.root),
    )
    publisher = Publisher(recorder, sources=host.sources, gauges=host.gauges, cloudwatch=cloudwatch)
    control = Control(
        Gateway(host.open_call),
        status=lambda: {"endpoints": host.report(), "skipped": list(aws.skipped_resources)},
        publish=publisher.publish_on_demand,
    )
    aws = EmbeddedAws(
        host,
        control,
        keys=keys,
        account=environment.account,
        log=state.log("aws"),
        headers={LOCAL_FLEET_HEADER: "1"},
    )
    aws.start()
    ends.callback(aws.stop)
    publisher.start()
    ends.callback(publisher.stop)
    ends.callback(host.close)
    return aws.url


def _announce(announce: int, message: dict[str, str]) -> None:
    with suppress(BrokenPipeError), os.fdopen(announce, "w") as pipe:
        pipe.write(json.dumps(message) + "\n")


if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Control:
    """A WSGI application: the status report and the publishing of metrics; the rest goes to the gateway."""

    def __init__(
        self,
        gateway: WSGIApplication,
        *,
        status: Callable[[], dict[str, object]],
        publish: Callable[[], None],
    ) -> None:
        self._gateway, self._status, self._publish = gateway, status, publish

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environ.get("PATH_INFO") == STATUS:
            report = Response(json.dumps(self._status()), content_type="application/json")
            return report(environ, start_response)
        if environ.get("PATH_INFO") == METRICS and environ.get("REQUEST_METHOD") == "POST":
            self._publish()
            return Response()(environ, start_response)
        return self._gateway(environ, start_response)


log = logging.getLogger("triton_fleet.local")


@dataclass
class Limits:
    """Called at each load, so a change needs no new start; while the file is wrong the last limits hold."""

    root: Path
    _last: LocalLimits = field(default_factory=LocalLimits)

    def __call__(self) -> LocalLimits:
        """The limits."""
        try:
            self._last = open_project(self.root, LOCAL).environment.local or LocalLimits()
        except (FindingsError, OSError) as error:
            log.warning("the limits of local.yaml stay as they were: %s", error)
        return self._last
