"""The end of a multi-model endpoint under load."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from tests.support.triton_models import is_session_over, shared_memory
from tests.support.zoo import Zoo, call_in_parallel, times
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = pytest.mark.triton


def test_the_end_under_load_keeps_no_call_waiting_and_leaves_nothing_behind(
    runtime: TritonRuntime, tmp_path: Path
) -> None:
    zoo = Zoo(runtime, tmp_path)
    zoo.start()
    for factor in (2, 3, 4):
        zoo.upload(f"t{factor}.tar.gz", times(factor))
    zoo.call("t2.tar.gz")
    process = zoo.server.process
    under_way = threading.Semaphore(0)

    def call(factor: int) -> float | None:
        under_way.release()
        try:
            while True:
                assert zoo.call(f"t{factor}.tar.gz", 2.0) == 2.0 * factor
        except (ClientError, BotoCoreError):
            return None

    def end() -> None:
        for _ in range(30):
            under_way.acquire()
        zoo.stop()

    results = call_in_parallel([*(lambda f=2 + index % 3: call(f) for index in range(30)), end])
    assert results == [None] * 31
    assert is_session_over(process.pid)
    assert not shared_memory(process)
    assert not list((zoo.state.folder / "endpoints").glob("*/*"))
