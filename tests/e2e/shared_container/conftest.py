"""Containers with recording models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.shared_containers import (
    TEXT_CONFIG,
    TEXT_MODEL,
    SharedContainer,
    nginx_version,
    write_model,
)
from triton_fleet.local.triton.runtime import TritonRuntime

ROUTES = {
    "default": "resnet",
    "routes": {
        "resnet": {"model": "resnet_image", "versions": ["1", "2"]},
        "text": {"model": "text_model", "versions": ["1"]},
        "constructor": {"model": "other", "versions": ["1"]},
    },
}
EXPLICIT = ("--model-control-mode=explicit", "--load-model=*")
Make = Callable[..., SharedContainer]


def pytest_report_header() -> str:
    try:
        return f"nginx: {nginx_version()}"
    except pytest.skip.Exception as error:
        return f"nginx: {error}"


@pytest.fixture(scope="module")
def container(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedContainer]:
    """One that all tests of a module share."""
    folder = tmp_path_factory.mktemp("container")
    for name, versions in (("resnet_image", "12"), ("other", "1"), ("secret", "1")):
        write_model(folder / "repository", name, versions)
    write_model(folder / "repository", "text_model", code=TEXT_MODEL, config=TEXT_CONFIG)
    container = SharedContainer(folder, runtime, ROUTES, EXPLICIT, {"TRITON_FLEET_ACCESS_LOG": "all"})
    container.start()
    try:
        container.wait_ready()
        yield container
    finally:
        container.close()


@pytest.fixture
def make(runtime: TritonRuntime, tmp_path: Path) -> Iterator[Make]:
    """Containers of one test, with one model."""
    containers: list[SharedContainer] = []

    def start(versions: str = "1", arguments: tuple[str, ...] = (), **variables: str) -> SharedContainer:
        routes = {"default": "one", "routes": {"one": {"model": "model", "versions": list(versions)}}}
        write_model(tmp_path / "repository", "model")
        container = SharedContainer(tmp_path, runtime, routes, variables=variables, arguments=arguments)
        containers.append(container)
        container.start()
        return container

    yield start
    for container in containers:
        container.close()
