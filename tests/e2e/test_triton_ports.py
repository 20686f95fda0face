"""A real Triton: its services answer at the ports that SageMaker lets a container bind, or it does not start."""

from __future__ import annotations

import socket
import urllib.request
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from fleet.local.hosting import HostingError
from fleet.local.triton.ports import free_ports
from fleet.local.triton.server import TritonServer
from triton_models import Starter, python_model

pytestmark = pytest.mark.triton

PREFIX = "SAGEMAKER_TRITON_"
METRICS = {f"{PREFIX}LOG_VERBOSE": "false", f"{PREFIX}ALLOW_METRICS": "true"}
PUBLISHED = METRICS | {f"{PREFIX}PUBLISH_METRICS_TO_CLOUDWATCH": "true"}
GRPC = {f"{PREFIX}LOG_VERBOSE": "false", f"{PREFIX}ALLOW_GRPC": "true"}
RANGE = range(23000, 24000)


def flags(*words: str) -> dict[str, str]:
    return {f"{PREFIX}ADDITIONAL_ARGS": " ".join(words)}


def listening(server: TritonServer) -> set[tuple[str, int]]:
    """Address and port of each service but the one for invocations."""
    sockets = psutil.Process(server.process.pid).net_connections("tcp")
    found = {each.laddr for each in sockets if each.status == psutil.CONN_LISTEN}
    return {(each.ip.removeprefix("::ffff:"), each.port) for each in found if each.port != server.port}


@pytest.mark.parametrize(
    ("environment", "service", "port"),
    [
        (METRICS | {f"{PREFIX}METRICS_PORT": "8002"}, "metrics", 8002),
        (METRICS, "metrics", 8002),
        (METRICS | flags("--metrics-port=8002"), "metrics", 8002),
        (PUBLISHED | flags("--metrics-port=24000"), "metrics", 24000),
        (METRICS | flags("--metrics-port=8002", "--metrics-address=127.0.0.1"), "metrics", 8002),
        (GRPC | {f"{PREFIX}GRPC_PORT": "22999"}, "GRPC", 22999),
        (flags("--allow-grpc=on"), "GRPC", 8001),
        (flags("--allow-http=1", "--http-port", "8003"), "HTTP", 8003),
        (METRICS | flags("--allow-http=true", "--http-port=23000"), "metrics", 8002),
    ],
)
def test_a_port_that_sagemaker_blocks_is_refused_in_tritons_words(
    starter: Starter, tmp_path: Path, environment: dict[str, str], service: str, port: int
) -> None:
    with pytest.raises(HostingError) as caught:
        starter.start(python_model(tmp_path), environment)
    words = (
        f"The server cannot listen to {service} requests at port {port}, allowed port range is [23000, 23999]"
    )
    assert str(caught.value) == f"Triton did not start: {words} (log: {tmp_path / 'triton.log'})"


def test_two_services_at_one_port_are_refused_in_tritons_words(starter: Starter, tmp_path: Path) -> None:
    environment = METRICS | GRPC | {f"{PREFIX}METRICS_PORT": "23001", f"{PREFIX}GRPC_PORT": "23001"}
    with pytest.raises(HostingError, match=r"GRPC .* metrics .* same address and port 0\.0\.0\.0:23001"):
        starter.start(python_model(tmp_path), environment)


@pytest.mark.parametrize(
    "environment",
    [
        METRICS | {f"{PREFIX}METRICS_PORT": "23005"},
        METRICS | flags("--metrics-port=23005"),
        METRICS | {f"{PREFIX}METRICS_PORT": "8002"} | flags("--metrics-port", "23005"),
        PUBLISHED | {f"{PREFIX}METRICS_PORT": "8002"},
    ],
)
def test_metrics_at_a_port_of_the_range_answer_at_one_of_it_on_loopback(
    starter: Starter, tmp_path: Path, environment: dict[str, str]
) -> None:
    server = starter.start(python_model(tmp_path), environment)
    assert listening(server) == {("127.0.0.1", server.metrics_port)}
    assert server.metrics_port in RANGE
    with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics") as answer:
        assert b"nv_inference_request_success" in answer.read()


def test_every_service_answers_at_a_port_of_its_own_on_loopback(starter: Starter, tmp_path: Path) -> None:
    environment = METRICS | GRPC | {f"{PREFIX}METRICS_PORT": "23000", f"{PREFIX}GRPC_PORT": "23001"}
    server = starter.start(
        python_model(tmp_path), environment | flags("--allow-http=true", "--http-port=23002")
    )
    found = listening(server)
    assert {address for address, _ in found} == {"127.0.0.1"}
    assert len(found & {("127.0.0.1", port) for port in RANGE}) == 3


def test_a_port_of_the_range_that_somebody_else_took_first_is_given_up_for_another(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("127.0.0.1", free_ports(1, RANGE)[0]))) as other:
        taken = other.getsockname()[1]
        tried: list[list[int]] = []

        def first_the_taken_one(count: int, among: range | None = None) -> list[int]:
            ports = free_ports(count, among)
            if among is not None:
                tried.append(ports)
                return [taken, *ports[1:]] if len(tried) == 1 else ports
            return ports

        monkeypatch.setattr("fleet.local.triton.server.free_ports", first_the_taken_one)
        server = starter.start(python_model(tmp_path), METRICS | {f"{PREFIX}METRICS_PORT": "23000"})
    assert len(tried) == 2
    assert listening(server) == {("127.0.0.1", tried[1][0])}
