"""A real Triton for each module that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.findings import CannotRunError
from fleet.local.triton.runtime import TritonRuntime, find_runtime
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
