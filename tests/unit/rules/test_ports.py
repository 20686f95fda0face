"""At which ports the container may answer, wherever a spec names them."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.findings import Finding, Severity
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.spec.source import KeyPath

PREFIX = "SAGEMAKER_TRITON_"
UNPUBLISHED_METRICS: dict[str, Any] = {"metrics": {"triton": False}}


def case(spec: dict[str, Any]) -> Case:
    return Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE)


def environment(**variables: str) -> dict[str, Any]:
    return {"environment": {f"{PREFIX}{name}": value for name, value in variables.items()}}


def flags(*flags: str) -> dict[str, Any]:
    return {"container": {"additional_args": list(flags)}}


def findings(code: str, spec: dict[str, Any]) -> list[Finding]:
    return case(spec).findings(rules()[code])


def places(code: str, spec: dict[str, Any]) -> list[KeyPath]:
    return [problem.path for problem in case(spec).problems(rules()[code])]


@pytest.mark.parametrize(
    ("spec", "variable", "port"),
    [
        ({}, "METRICS_PORT", "23000"),
        (UNPUBLISHED_METRICS, "METRICS_PORT", None),
        (UNPUBLISHED_METRICS | environment(ALLOW_METRICS="1"), "METRICS_PORT", "23000"),
        (environment(ALLOW_GRPC="on"), "GRPC_PORT", "23001"),
        (flags("--allow-grpc=true"), "GRPC_PORT", "23001"),
        (environment(ADDITIONAL_ARGS="--allow-grpc true"), "GRPC_PORT", "23001"),
        (environment(ALLOW_GRPC="off"), "GRPC_PORT", None),
        (flags("--allow-grpc=true", "--grpc-port=23005"), "GRPC_PORT", None),
        (flags("--metrics-port=23005"), "METRICS_PORT", None),
        ({"container": {"metrics_port": 23005}}, "METRICS_PORT", "23005"),
        (environment(METRICS_PORT="23005"), "METRICS_PORT", "23005"),
    ],
)
def test_a_service_that_is_allowed_without_a_port_gets_one_that_sagemaker_does_not_block(
    spec: dict[str, Any], variable: str, port: str | None
) -> None:
    assert case(spec).context().variables.get(f"{PREFIX}{variable}") == port


@pytest.mark.parametrize(
    ("spec", "place", "name"),
    [
        (
            UNPUBLISHED_METRICS | environment(ALLOW_METRICS="true", METRICS_PORT="8002"),
            ("environment", f"{PREFIX}METRICS_PORT"),
            "metrics would use port 8002",
        ),
        (
            UNPUBLISHED_METRICS | {"container": {"metrics_port": 24000}} | environment(ALLOW_METRICS="On"),
            ("container", "metrics_port"),
            "metrics would use port 24000",
        ),
        (
            UNPUBLISHED_METRICS
            | environment(ALLOW_METRICS="1")
            | flags("--log-info=1", "--metrics-port=8002"),
            ("container", "additional_args", 1),
            "metrics would use port 8002",
        ),
        (
            UNPUBLISHED_METRICS | environment(ADDITIONAL_ARGS="--allow-metrics=true --metrics-port 8002"),
            ("environment", f"{PREFIX}ADDITIONAL_ARGS"),
            "metrics would use port 8002",
        ),
        (
            environment(ALLOW_GRPC="true", GRPC_PORT="22999"),
            ("environment", f"{PREFIX}GRPC_PORT"),
            "gRPC would use port 22999",
        ),
        (
            flags("--allow-grpc=TRUE", "--grpc-port=23001", "--grpc-port=8001"),
            ("container", "additional_args", 2),
            "gRPC would use port 8001",
        ),
        (
            flags("--allow-http=true", "--http-port=8003"),
            ("container", "additional_args", 1),
            "HTTP would use port 8003",
        ),
        (flags("--allow-http=1"), ("container", "additional_args", 0), "HTTP would use port 8000"),
        (
            flags("--metrics-port=8002"),
            ("container", "additional_args", 0),
            "metrics would use port 8002",
        ),
    ],
)
def test_a_port_that_sagemaker_blocks_is_an_error_where_the_spec_names_it(
    spec: dict[str, Any], place: KeyPath, name: str
) -> None:
    assert places("FL321", spec) == [place]
    (finding,) = findings("FL321", spec)
    assert finding.severity is Severity.ERROR
    assert finding.message.startswith(name)
    assert finding.message.endswith("lets a container bind 23000 to 23999, and the server does not start")
    assert "choose a port from 23000 to 23999" in finding.hint


@pytest.mark.parametrize(
    "spec", [{"container": {"metrics_port": 8002}}, environment(METRICS_PORT="8002", ALLOW_GRPC="off")]
)
def test_a_blocked_port_of_metrics_that_are_published_is_a_warning(spec: dict[str, Any]) -> None:
    (finding,) = findings("FL321", spec)
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("AWS's image uses one of these instead")
    assert finding.hint == "choose a port from 23000 to 23999, or leave it out to use 23000"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        UNPUBLISHED_METRICS,
        UNPUBLISHED_METRICS | {"container": {"metrics_port": 8002}},
        UNPUBLISHED_METRICS | environment(ALLOW_METRICS="true"),
        environment(ALLOW_GRPC="true"),
        environment(ALLOW_GRPC="false", GRPC_PORT="8001"),
        {"container": {"metrics_port": 23999}},
        flags("--allow-http=off", "--http-port=8000"),
        flags("--allow-grpc=true", "--grpc-port=8001", "--grpc-port=23500"),
        UNPUBLISHED_METRICS | environment(ALLOW_METRICS="true", METRICS_PORT="9" * 5000),
        environment(METRICS_PORT=""),
    ],
)
def test_ports_of_the_range_and_of_services_that_are_off_are_fine(spec: dict[str, Any]) -> None:
    assert findings("FL321", spec) == []
    assert findings("FL241", spec) == []


@pytest.mark.parametrize(
    ("spec", "place", "message"),
    [
        (
            environment(ALLOW_GRPC="true", GRPC_PORT="23000"),
            ("environment", f"{PREFIX}GRPC_PORT"),
            "gRPC and metrics would both use port 23000",
        ),
        (
            flags("--allow-grpc=on", "--grpc-port=23000"),
            ("container", "additional_args", 1),
            "gRPC and metrics would both use port 23000",
        ),
        (
            flags("--metrics-port=8080"),
            ("container", "additional_args", 0),
            "metrics and invocations would both use port 8080",
        ),
        (
            environment(ALLOW_GRPC="true") | flags("--allow-http=true", "--http-port=23001"),
            ("container", "additional_args", 1),
            "HTTP and gRPC would both use port 23001",
        ),
    ],
)
def test_two_services_at_one_port_are_told_once_where_the_second_is_named(
    spec: dict[str, Any], place: KeyPath, message: str
) -> None:
    assert places("FL241", spec) == [place]
    assert [finding.message for finding in findings("FL241", spec)] == [message]
    assert findings("FL321", spec) == []
