"""A Triton that serves one repository after the other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.zoo_triton import ZooTriton
from triton_fleet.local.triton.runtime import TritonRuntime


@pytest.fixture(scope="module")
def triton(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooTriton]:
    zoo = ZooTriton(runtime, tmp_path_factory.mktemp("triton"))
    yield zoo
    zoo.server.stop()
