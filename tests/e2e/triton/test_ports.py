"""A real Triton: its services answer at the ports that SageMaker lets a container bind, or it does not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import Starter, python_model
from triton_fleet.local.triton.server import TritonServer

pytestmark = pytest.mark.triton

PREFIX = "SAGEMAKER_TRITON_"
METRICS = {f"{PREFIX}LOG_VERBOSE": "false", f"{PREFIX}ALLOW_METRICS": "true"}
PUBLISH_SETTINGS = METRICS | {f"{PREFIX}PUBLISH_METRICS_TO_CLOUDWATCH": "true"}
GRPC = {f"{PREFIX}LOG_VERBOSE": "false", f"{PREFIX}ALLOW_GRPC": "true"}


def flags(*words: str) -> dict[str, str]:
    return {f"{PREFIX}ADDITIONAL_ARGS": " ".join(words)}


def answers(server: TritonServer, port: int) -> bool:
    """Whether anything listens there in the server's own network."""
    try:
        server.connect(port).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize(
    ("environment", "service", "port"),
    [
        (METRICS | {f"{PREFIX}METRICS_PORT": "8002"}, "metrics", 8002),
        (METRICS, "metrics", 8002),
        (METRICS | flags("--metrics-port=8002"), "metrics", 8002),
        (PUBLISH_SETTINGS | flags("--metrics-port=24000"), "metrics", 24000),
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
    ("environment", "port"),
    [
        (METRICS | {f"{PREFIX}METRICS_PORT": "8002"} | flags("--metrics-port", "23005"), 23005),
        (PUBLISH_SETTINGS | {f"{PREFIX}METRICS_PORT": "8002"}, 23000),
        *(
            pytest.param(environment, 23005, marks=pytest.mark.nightly)
            for environment in (
                METRICS | {f"{PREFIX}METRICS_PORT": "23005"},
                METRICS | flags("--metrics-port=23005"),
                PUBLISH_SETTINGS | {f"{PREFIX}METRICS_PORT": "23005"},
            )
        ),
    ],
)
def test_metrics_answer_at_their_port_or_at_a_free_one_for_a_blocked_one_that_is_published(
    starter: Starter, tmp_path: Path, environment: dict[str, str], port: int
) -> None:
    server = starter.start(python_model(tmp_path), environment)
    assert answers(server, port)
    assert b"nv_inference_request_success" in server.metrics.request("GET", "/metrics").data


def test_every_service_answers_at_its_port_and_two_servers_may_have_the_same(
    starter: Starter, tmp_path: Path
) -> None:
    environment = METRICS | GRPC | {f"{PREFIX}METRICS_PORT": "23000", f"{PREFIX}GRPC_PORT": "23001"}
    environment |= flags("--allow-http=true", "--http-port=23002")
    first = starter.start(python_model(tmp_path), environment)
    second = TritonServer(starter.runtime, tmp_path / "staged", environment, log=tmp_path / "second.log")
    starter.servers.append(second)
    second.start()
    second.wait_ready(60.0)
    for server in (first, second):
        assert [answers(server, port) for port in (8080, 23000, 23001, 23002, 23003)] == [True] * 4 + [False]
