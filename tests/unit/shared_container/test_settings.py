"""Settings of the shared container: the ports of its servers, and the command line of Triton."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from shared_container.routes import SettingsError
from shared_container.settings import Places, Settings, option_value, read_settings

ROUTES = json.dumps({"routes": {"a": {"model": "a", "versions": ["1"]}}})


def settings(*options: str, **variables: str) -> Settings:
    environment = {"TRITON_FLEET_ROUTES": ROUTES, "TRITON_FLEET_OPTIONS": json.dumps(options), **variables}
    return read_settings(environment, Places())


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that is in use, with three free ones behind it; none of those that the kernel gives by itself."""
    first = next(port for port in range(24_000, 32_000, 4) if all(map(is_free, range(port, port + 4))))
    with closing(socket.socket()) as server:
        server.bind(("127.0.0.1", first))
        yield first


def is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def test_without_variables_ports_are_those_of_sagemaker() -> None:
    actual_settings = settings()
    assert actual_settings.port == 8080
    assert 23000 <= actual_settings.triton_port <= 23999
    assert (actual_settings.metrics_port, actual_settings.namespace, actual_settings.logs_all_requests) == (
        None,
        None,
        False,
    )


def test_triton_serves_http_on_loopback_and_nothing_else() -> None:
    actual_settings = settings()
    command = actual_settings.triton_command()
    assert command[:2] == ["/opt/tritonserver/bin/tritonserver", "--model-repository=/opt/ml/model"]
    assert option_value(command, "--allow-grpc") == option_value(command, "--allow-metrics") == "false"
    assert option_value(command, "--http-address") == "127.0.0.1"
    assert option_value(command, "--http-port") == str(actual_settings.triton_port)


def test_an_option_cannot_move_triton_away_from_the_router() -> None:
    actual_settings = settings("--http-port=9", "--http-address=0.0.0.0", "--allow-http=false")
    command = actual_settings.triton_command()
    assert option_value(command, "--http-address") == "127.0.0.1"
    assert option_value(command, "--http-port") == str(actual_settings.triton_port)
    assert option_value(command, "--allow-http") == "true"


def test_the_entrypoint_of_the_release_starts_triton_where_it_exists(tmp_path: Path) -> None:
    entrypoint = tmp_path / "nvidia_entrypoint.sh"
    entrypoint.touch()
    environment = {"TRITON_FLEET_ROUTES": ROUTES}
    settings = read_settings(environment, Places(entrypoint=str(entrypoint)))
    assert settings.triton_command()[:2] == [str(entrypoint), "/opt/tritonserver/bin/tritonserver"]


@pytest.mark.parametrize("options", [["--metrics-port=23700"], ["--metrics-port", "23700"]])
def test_metrics_are_at_the_port_of_the_options_or_at_a_free_one(options: list[str]) -> None:
    assert settings("--allow-metrics=true", *options).metrics_port == 23700
    actual_settings = settings("--allow-metrics=true")
    assert actual_settings.metrics_port is not None
    assert actual_settings.metrics_port != actual_settings.triton_port
    assert f"--metrics-port={actual_settings.metrics_port}" in actual_settings.triton_command()


def test_triton_takes_no_port_that_is_in_use_or_given_to_another_service(taken_port: int) -> None:
    ports = range(taken_port, taken_port + 4)
    actual_settings = settings(
        f"--grpc-port={ports[1]}",
        f"--metrics-port={ports[2]}",
        SAGEMAKER_SAFE_PORT_RANGE=f"{ports[0]}-{ports[3]}",
    )
    assert actual_settings.triton_port == ports[3]


def test_a_range_without_a_free_port_is_refused(taken_port: int) -> None:
    with pytest.raises(SettingsError, match="no port of .* is free"):
        settings(SAGEMAKER_SAFE_PORT_RANGE=f"{taken_port}-{taken_port}")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SAGEMAKER_BIND_TO_PORT": "eighty"}, "SAGEMAKER_BIND_TO_PORT is 'eighty', which is not a port"),
        ({"SAGEMAKER_BIND_TO_PORT": "65536"}, "which is not a port"),
        ({"SAGEMAKER_SAFE_PORT_RANGE": "23000"}, "SAGEMAKER_SAFE_PORT_RANGE is '', which is not a port"),
        ({"SAGEMAKER_SAFE_PORT_RANGE": "9-8"}, "'9-8', which has no port"),
        ({"TRITON_FLEET_OPTIONS": "{}"}, "TRITON_FLEET_OPTIONS is not a list of texts"),
        ({"TRITON_FLEET_OPTIONS": "["}, "TRITON_FLEET_OPTIONS is not JSON"),
        ({"TRITON_FLEET_OPTIONS": '["--metrics-port=x"]'}, "--metrics-port is 'x', which is not a port"),
        ({"TRITON_FLEET_ACCESS_LOG": "some"}, "write errors or all"),
    ],
)
def test_a_variable_that_means_nothing_is_refused(variables: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings(**variables)


def test_the_last_of_several_values_counts() -> None:
    assert option_value(["--a=1", "--b", "2", "--a", "3"], "--a") == "3"
    assert option_value(["--ab=1"], "--a") is None
