"""A real Triton, or an embedded AWS, for each module that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.findings import CannotRunError
from fleet.local.triton.runtime import TritonRuntime, find_runtime
from fleet_emulator.server import EmbeddedAws
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.host import RecordingHost
from tests.e2e.embedded_app.stacks import Stacks, embedded_aws
from triton_models import Starter


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> TritonRuntime:
    try:
        return find_runtime(tmp_path_factory.mktemp("runtime"))
    except CannotRunError as error:
        pytest.skip(str(error))


@pytest.fixture
def starter(runtime: TritonRuntime, tmp_path: Path) -> Iterator[Starter]:
    starter = Starter(runtime, tmp_path)
    yield starter
    for server in starter.servers:
        server.stop()


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[EmbeddedAws, RecordingHost]]:
    with embedded_aws() as running:
        yield running


@pytest.fixture
def aws(running: tuple[EmbeddedAws, RecordingHost]) -> EmbeddedAws:
    return running[0]


@pytest.fixture
def host(running: tuple[EmbeddedAws, RecordingHost]) -> Iterator[RecordingHost]:
    yield running[1]
    running[1].failure = ""
    running[1].may_finish.set()
    running[1].may_scale.set()


@pytest.fixture
def stacks(aws: EmbeddedAws) -> Stacks:
    return Stacks(aws)


@pytest.fixture
def sagemaker(aws: EmbeddedAws, host: RecordingHost) -> Any:
    return client(aws, "sagemaker")


@pytest.fixture
def scaling(aws: EmbeddedAws) -> Any:
    return client(aws, "application-autoscaling")


@pytest.fixture
def cloudwatch(aws: EmbeddedAws) -> Any:
    return client(aws, "cloudwatch")
