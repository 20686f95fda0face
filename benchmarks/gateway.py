"""A call through the local gateway: what its signature and the container's own network cost it.

`make bench NAME=gateway`. A container that answers at once is called by boto3 through two local gateways that
take turns: one as `fleet local up` has it, and one that checks no signature and reaches its container on
loopback. A plain call of the container shows what the rest is. Exits with 1 where the first one takes over a
tenth longer than the second: the medians of one run.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from short import is_short
from urllib3 import HTTPConnectionPool

from fleet_emulator.hosting import DeployedEndpoint, EndpointId
from fleet_emulator.server import EmbeddedAws
from fleet_emulator.signatures import Caller, Signatures
from triton_fleet.awsapi.emulator import Keys, local_session
from triton_fleet.findings import CannotRunError
from triton_fleet.local.containers import SingleModel
from triton_fleet.local.gateway import Gateway
from triton_fleet.local.triton.network import PrivateNetwork, check_network
from triton_fleet.local.triton.process import ProcessGroup

CALLS = 20 if is_short() else 500
MOST = 1.1
TENSOR = {"name": "x", "shape": [1, 100], "datatype": "FP32", "data": [0.5] * 100}
BODY = json.dumps({"inputs": [TENSOR]}).encode()
KEYS = Keys("FLEET000000000000000", "of-the-benchmark")
REGION = "us-east-1"
PORT = 8080


class _Container(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""


class _Nobody:
    def serve(self, endpoint: DeployedEndpoint) -> None:
        raise NotImplementedError

    def scale(self, id: EndpointId) -> None:
        raise NotImplementedError

    def remove(self, id: EndpointId) -> None:
        raise NotImplementedError


def _unchecked(_self: Signatures, _environ: object, read_body: Callable[[], bytes]) -> Caller:
    read_body()
    return Caller(account=DEFAULT_ACCOUNT_ID, region=REGION)


def measured() -> int:
    """Let the three ways take turns."""
    with ExitStack() as ends:
        port = _free_port()
        ends.enter_context(_process("--container", port))
        ways: dict[str, Callable[[], Any]] = {"the container alone": _plain(port)}
        for name in ("--unchecked", "--checked"):
            ways[name.removeprefix("--")] = _through(ends.enter_context(_process(name, port)))
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(CALLS):
            for name, way in ways.items():
                start = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(taken[CALLS // 10 :]) for name, taken in seconds.items()}
    print(f"a call of {len(BODY)} bytes, the median of {CALLS} by boto3: milliseconds")
    for name, median in medians.items():
        print(f"{name:<32}{1000 * median:>12.3f}")
    ratio = medians["checked"] / medians["unchecked"]
    print(json.dumps({"gateway_checked_to_unchecked": round(ratio, 3)}))
    return int(not is_short() and ratio > MOST)


def _part(name: str, port: int) -> int:
    if name == "--container":
        with ThreadingHTTPServer(("127.0.0.1", port), _Container) as container:
            container.daemon_threads = True
            print("ready", flush=True)
            container.serve_forever()
    with ExitStack() as ends:
        if name == "--unchecked":
            Signatures.check = _unchecked  # type: ignore[assignment, method-assign]
            pool = HTTPConnectionPool("127.0.0.1", port, maxsize=256, retries=False)
        else:
            pool = ends.enter_context(_private_container(port))
        triton: Any = SimpleNamespace(ready=SimpleNamespace(pool=pool))
        model = SingleModel(triton, "AllTraffic", differences=[], record=lambda _measure, _value: None)
        gateway = Gateway(lambda _endpoint: nullcontext(model))
        aws = EmbeddedAws(_Nobody(), gateway, keys=KEYS)
        aws.start()
        ends.callback(aws.stop)
        print(aws.url, flush=True)
        sys.stdin.read()
    return 0


@contextmanager
def _private_container(port: int) -> Iterator[HTTPConnectionPool]:
    """The container in a network of its own; where the machine gives none, that on loopback."""
    try:
        check_network()
    except CannotRunError as error:
        print(error, file=sys.stderr)
        yield HTTPConnectionPool("127.0.0.1", port, maxsize=256, retries=False)
        return
    network = PrivateNetwork(on_loss=lambda: None)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--container", str(PORT)]
        log = Path(folder) / "log"
        group = ProcessGroup(
            command, {}, log=log, cwd=Path(folder), shm_prefix="fleet_benchmark_", network=network
        )
        while "ready" not in log.read_text():
            time.sleep(0.05)
        yield network.pool(PORT)
        group.stop(0.0)


@contextmanager
def _process(name: str, port: int) -> Iterator[str]:
    """A part in a process of its own, which ends with its standard input; its first line."""
    command = [sys.executable, __file__, name, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise AssertionError
        yield process.stdout.readline().strip()
        process.stdin.close()
        if name == "--container":
            process.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _plain(port: int) -> Callable[[], Any]:
    pool = HTTPConnectionPool("127.0.0.1", port)
    return lambda: pool.request("POST", "/invocations", body=BODY)


def _through(url: str) -> Callable[[], Any]:
    runtime = local_session(REGION, KEYS).client("sagemaker-runtime", endpoint_url=url)
    return lambda: runtime.invoke_endpoint(EndpointName="any", Body=BODY)["Body"].read()


if __name__ == "__main__":
    sys.exit(_part(sys.argv[1], int(sys.argv[2])) if len(sys.argv) == 3 else measured())
