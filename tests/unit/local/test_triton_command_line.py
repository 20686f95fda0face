"""The command line and the variables that the container's start script makes of the deployed Model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from triton_fleet.local.triton.container import (
    departures,
    metrics_namespace,
    server_environment,
    start_command,
)
from triton_fleet.local.triton.model_python import ModelPython
from triton_fleet.local.triton.runtime import TritonRuntime

RUNTIME = TritonRuntime(
    binary=Path("/triton/tritonserver"),
    library_path=(Path("/triton/libs"), Path("/python/lib")),
    backend_directory=Path("/cache/backends"),
    cache_directory=Path("/triton/caches"),
    python=ModelPython(prefix=Path("/cache/python"), packages={}, image={}),
    release="24.10",
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "my models"
    (folder / "bert").mkdir(parents=True)
    return folder


def _command(repository: Path, environment: dict[str, str], runtime: TritonRuntime = RUNTIME) -> list[str]:
    return start_command(runtime, repository, environment, shm_prefix="shm_")


def test_without_variables_the_defaults_are_the_scripts(repository: Path) -> None:
    assert _command(repository, {}) == [
        "/triton/tritonserver",
        "--allow-sagemaker=true",
        "--allow-http=false",
        "--model-control-mode=explicit",
        f"--model-repository={repository}",
        "--model-namespacing=true",
        "--allow-grpc=false",
        "--allow-metrics=false",
        "--log-verbose=true",
        "--backend-config=python,shm-default-byte-size=16777216",
        "--backend-config=python,shm-growth-byte-size=1048576",
        "--load-model=bert",
        "--sagemaker-port=8080",
        "--sagemaker-safe-port-range=23000-23999",
        "--backend-directory=/cache/backends",
        "--cache-directory=/triton/caches",
        "--backend-config=python,shm-region-prefix-name=shm_",
    ]


@pytest.mark.parametrize(
    ("variable", "value", "option"),
    [
        ("DISABLE_MODEL_NAMESPACING", "false", "--model-namespacing=false"),
        ("DISABLE_MODEL_NAMESPACING", "true", "--model-namespacing=true"),
        ("ALLOW_GRPC", "true", "--allow-grpc=true"),
        ("ALLOW_METRICS", "true", "--allow-metrics=true"),
        ("BUFFER_MANAGER_THREAD_COUNT", "0", "--buffer-manager-thread-count=0"),
        ("THREAD_COUNT", "16", "--sagemaker-thread-count=16"),
        ("LOG_VERBOSE", "false", "--log-verbose=false"),
        ("LOG_INFO", "false", "--log-info=false"),
        ("LOG_WARNING", "false", "--log-warning=false"),
        ("LOG_ERROR", "false", "--log-error=false"),
        ("SHM_DEFAULT_BYTE_SIZE", "33554432", "--backend-config=python,shm-default-byte-size=33554432"),
        ("SHM_GROWTH_BYTE_SIZE", "2097152", "--backend-config=python,shm-growth-byte-size=2097152"),
        ("TENSORFLOW_VERSION", "2", "--backend-config=tensorflow,version=2"),
        ("ADDITIONAL_ARGS", "--cache-config=local,size=9", "--cache-config=local,size=9"),
    ],
)
def test_each_variable_becomes_its_option_once(
    repository: Path, variable: str, value: str, option: str
) -> None:
    command = _command(repository, {f"SAGEMAKER_TRITON_{variable}": value})
    stem = option.rpartition("=")[0] + "="
    assert [text for text in command if text.startswith(stem)] == [option]


def test_an_empty_variable_counts_as_unset(repository: Path) -> None:
    assert _command(repository, {"SAGEMAKER_TRITON_LOG_VERBOSE": ""}) == _command(repository, {})


def test_additional_arguments_are_split_at_white_space_and_come_before_the_model(repository: Path) -> None:
    command = _command(
        repository, {"SAGEMAKER_TRITON_ADDITIONAL_ARGS": " --load-model=vae\t--exit-timeout-secs=5 "}
    )
    place = command.index("--load-model=vae")
    assert command[place : place + 3] == ["--load-model=vae", "--exit-timeout-secs=5", "--load-model=bert"]


def test_white_space_in_any_value_begins_a_new_option_as_in_the_unquoted_script(repository: Path) -> None:
    command = _command(repository, {"SAGEMAKER_TRITON_LOG_INFO": "false --load-model=vae"})
    assert "--log-info=false" in command
    assert "--load-model=vae" in command


@pytest.mark.parametrize(
    "variable",
    [
        "SAGEMAKER_BIND_TO_PORT",
        "SAGEMAKER_SAFE_PORT_RANGE",
        "SAGEMAKER_TRITON_MODEL_LOAD_GPU_LIMIT",
    ],
)
def test_what_this_machine_decides_itself_is_not_passed_on_but_said(repository: Path, variable: str) -> None:
    environment = {variable: "8090"}
    assert _command(repository, environment) == _command(repository, {})
    (departure,) = departures(environment)
    assert departure.startswith(f"{variable}=8090: ")


def test_nothing_is_said_about_variables_that_are_followed() -> None:
    assert departures({"SAGEMAKER_TRITON_LOG_VERBOSE": "true", "SAGEMAKER_TRITON_GRPC_PORT": "23001"}) == []


def _service_options(repository: Path, environment: dict[str, str]) -> list[str]:
    """Options that this machine adds for the services, after those of the start script."""
    command = _command(repository, {f"SAGEMAKER_TRITON_{name}": value for name, value in environment.items()})
    first = command.index("--sagemaker-safe-port-range=23000-23999") + 1
    return command[first : command.index("--backend-directory=/cache/backends")]


PUBLISH_SETTINGS = {"ALLOW_METRICS": "true", "PUBLISH_METRICS_TO_CLOUDWATCH": "true"}


@pytest.mark.parametrize(
    ("environment", "port"),
    [
        ({"ALLOW_METRICS": "true", "METRICS_PORT": "23000"}, "23000"),
        ({"ALLOW_METRICS": "1", "ADDITIONAL_ARGS": "--metrics-port=23999"}, "23999"),
        ({"ADDITIONAL_ARGS": "--allow-metrics=On --metrics-port 23999"}, "23999"),
        (
            {"ALLOW_METRICS": "true", "METRICS_PORT": "8002", "ADDITIONAL_ARGS": "--metrics-port=23001"},
            "23001",
        ),
        ({**PUBLISH_SETTINGS, "METRICS_PORT": "23007"}, "23007"),
        ({"LOG_INFO": "false --allow-metrics=true", "METRICS_PORT": "23000"}, "23000"),
    ],
)
def test_metrics_at_a_port_that_is_not_blocked_answer_there(
    repository: Path, environment: dict[str, str], port: str
) -> None:
    expected_texts = ["--metrics-address=0.0.0.0", f"--metrics-port={port}"]
    assert _service_options(repository, environment) == expected_texts


@pytest.mark.parametrize("environment", [{**PUBLISH_SETTINGS, "METRICS_PORT": "8002"}, PUBLISH_SETTINGS])
def test_published_metrics_at_a_blocked_port_get_a_free_one_as_by_awss_image(
    repository: Path, environment: dict[str, str]
) -> None:
    assert "--metrics-port=23000" in _service_options(repository, environment)
    grpc = {"ALLOW_GRPC": "true", "GRPC_PORT": "23000"}
    assert "--metrics-port=23001" in _service_options(repository, environment | grpc)


@pytest.mark.parametrize(
    ("environment", "port"),
    [
        ({"ALLOW_METRICS": "true"}, "8002"),
        ({"ALLOW_METRICS": "true", "METRICS_PORT": "22999"}, "22999"),
        ({"ALLOW_METRICS": "true", "METRICS_PORT": "24000"}, "24000"),
        ({"ALLOW_METRICS": "true", "METRICS_PORT": "none"}, "none"),
        ({"ALLOW_METRICS": "true", "METRICS_PORT": "9" * 5000}, "9" * 5000),
        ({"ALLOW_METRICS": "true", "METRICS_PORT": "23000", "ADDITIONAL_ARGS": "--metrics-port=1"}, "1"),
        ({**PUBLISH_SETTINGS, "ADDITIONAL_ARGS": "--metrics-port=8002"}, "8002"),
    ],
)
def test_metrics_at_a_blocked_port_are_left_to_triton_at_the_address_that_it_checks(
    repository: Path, environment: dict[str, str], port: str
) -> None:
    expected_texts = ["--metrics-address=0.0.0.0", f"--metrics-port={port}"]
    assert _service_options(repository, environment) == expected_texts


def test_a_service_that_is_not_allowed_has_no_port(repository: Path) -> None:
    environment = {"ALLOW_METRICS": "false", "METRICS_PORT": "8002", "GRPC_PORT": "8001"}
    assert _service_options(repository, environment) == []


def test_two_services_at_one_port_are_left_to_triton(repository: Path) -> None:
    environment = {"ALLOW_METRICS": "true", "METRICS_PORT": "23001", "ALLOW_GRPC": "true"}
    assert _service_options(repository, environment | {"GRPC_PORT": "23001"}) == [
        "--metrics-address=0.0.0.0",
        "--metrics-port=23001",
        "--grpc-address=0.0.0.0",
        "--grpc-port=23001",
    ]


def test_generate_is_refused_by_a_triton_that_would_silently_infer(repository: Path) -> None:
    environment = {"SAGEMAKER_TRITON_INFERENCE_TYPE": "generate"}
    with pytest.raises(HostingError, match=r"generate needs Triton 25\.03; this machine has 24\.10"):
        _command(repository, environment)
    assert _command(repository, environment, replace(RUNTIME, release="25.04"))


def test_the_server_knows_which_model_invocations_ask_and_finds_its_programs(repository: Path) -> None:
    variables = server_environment(RUNTIME, repository, {"MY_SETTING": "1", "PATH": "/nowhere"})
    assert variables["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "bert"
    assert variables["MY_SETTING"] == "1"
    assert variables["PATH"].startswith("/cache/python/bin:")
    assert variables["LD_LIBRARY_PATH"] == "/triton/libs:/python/lib"


def test_nothing_of_this_machines_environment_reaches_the_server(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert "AWS_SECRET_ACCESS_KEY" not in server_environment(RUNTIME, repository, {})


@pytest.mark.parametrize(
    ("given_values", "text"),
    [
        ({}, None),
        ({"OVERRIDE_PING_MODE": "live"}, None),
        ({"PING_MODE": "live"}, "ready"),
        ({"PING_MODE": "ready", "OVERRIDE_PING_MODE": "live"}, "live"),
    ],
)
def test_the_ping_mode_changes_only_where_the_variable_was_exported_before(
    repository: Path, given_values: dict[str, str], text: str | None
) -> None:
    environment = {f"SAGEMAKER_TRITON_{key}": value for key, value in given_values.items()}
    assert server_environment(RUNTIME, repository, environment).get("SAGEMAKER_TRITON_PING_MODE") == text


MULTI_MODEL = {"SAGEMAKER_MULTI_MODEL": "true"}


def test_in_multi_model_mode_nothing_is_loaded_at_the_start(tmp_path: Path) -> None:
    """As the script does it: an empty repository, and no default model."""
    command = _command(tmp_path, MULTI_MODEL)
    assert not [option for option in command if option.startswith("--load-model")]
    assert "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME" not in server_environment(RUNTIME, tmp_path, MULTI_MODEL)


@pytest.mark.parametrize(
    ("given_values", "text"),
    [
        ({}, None),
        ({"PING_MODE": "ready"}, "live"),
        ({"PING_MODE": "live", "OVERRIDE_PING_MODE": "live"}, "live"),
        ({"PING_MODE": "live", "OVERRIDE_PING_MODE": "ready"}, "ready"),
    ],
)
def test_in_multi_model_mode_the_usual_ping_mode_is_live(
    tmp_path: Path, given_values: dict[str, str], text: str | None
) -> None:
    environment = MULTI_MODEL | {f"SAGEMAKER_TRITON_{key}": value for key, value in given_values.items()}
    assert server_environment(RUNTIME, tmp_path, environment).get("SAGEMAKER_TRITON_PING_MODE") == text


@pytest.mark.parametrize("namespace", ["CLOUDWATCH_METRIC_NAMESPACE", "METRIC_NAMESPACE"])
def test_tritons_metrics_are_published_where_all_three_settings_say_so(namespace: str) -> None:
    settings = {
        "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
        "SAGEMAKER_TRITON_PUBLISH_METRICS_TO_CLOUDWATCH": "true",
        f"SAGEMAKER_TRITON_{namespace}": "TritonFleet/x",
    }
    assert metrics_namespace(settings) == "TritonFleet/x"
    for name in settings:
        assert metrics_namespace({**settings, name: ""}) == ""
