"""A Triton that ends by itself is started again."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import (
    DOUBLE,
    QUIET,
    call,
    is_session_over,
    python_model,
    shared_memory,
)
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.staging import stage
from triton_fleet.local.triton.supervisor import SupervisedTriton, TritonState

pytestmark = pytest.mark.triton


def test_a_killed_server_is_started_again_and_answers(runtime: TritonRuntime, tmp_path: Path) -> None:
    stage(python_model(tmp_path), tmp_path / "staged")
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=tmp_path / "triton.log")
    assert str(triton.state) == "starting"
    assert triton.ready is None
    triton.start()
    try:
        assert str(triton.state) == "ready"
        assert call(triton.ready, [[1, 2]]) == [1, 2, 2, 4]
        assert triton.server is not None
        first = triton.server.process
        pid = first.pid

        os.kill(pid, signal.SIGKILL)

        assert triton.wait_for(TritonState.RESTART, 10.0)
        assert triton.ready is None
        assert is_session_over(pid)
        assert triton.wait_for(TritonState.READY, 60.0)
        assert call(triton.ready, [[3, 4]]) == [1, 2, 6, 8]
        assert triton.server.process.pid != pid
        last = triton.server.process
    finally:
        triton.stop()
    assert str(triton.state) == "stopped"
    assert triton.restarts == 1
    assert triton.ready is None
    assert is_session_over(last.pid)
    assert shared_memory(first) + shared_memory(last) == []


def test_a_server_that_answers_no_ping_is_killed_and_started_again(
    runtime: TritonRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triton_fleet.local.triton.supervisor.SILENT_PINGS", 2)
    stage(python_model(tmp_path), tmp_path / "staged")
    log = tmp_path / "triton.log"
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=log, ping_interval=0.1)
    triton.start()
    try:
        assert triton.server is not None
        stopped_process = triton.server.process
        os.kill(stopped_process.pid, signal.SIGSTOP)
        assert triton.wait_for(TritonState.RESTART, 30.0)
        assert triton.ready is None
        assert triton.wait_for(TritonState.READY, 60.0)
        assert is_session_over(stopped_process.pid)
        assert call(triton.ready, [[1, 2]]) == [1, 2, 2, 4]
    finally:
        triton.stop()
    assert triton.restarts == 1


def test_a_server_that_cannot_start_again_is_tried_until_it_can(
    runtime: TritonRuntime, tmp_path: Path
) -> None:
    folder = tmp_path / "staged"
    stage(python_model(tmp_path), folder)
    triton = SupervisedTriton(runtime, folder, QUIET, log=tmp_path / "triton.log")
    triton.start()
    try:
        assert triton.server is not None
        folder.rename(tmp_path / "away")
        os.kill(triton.server.process.pid, signal.SIGKILL)
        assert triton.wait_for(TritonState.FAILURE, 30.0)
        (tmp_path / "away").rename(folder)
        assert triton.wait_for(TritonState.READY, 60.0)
        assert call(triton.ready, [[1, 2]]) == [1, 2, 2, 4]
    finally:
        triton.stop()


def test_a_first_start_that_fails_is_not_tried_again(runtime: TritonRuntime, tmp_path: Path) -> None:
    stage(python_model(tmp_path, "no Python"), tmp_path / "staged")
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=tmp_path / "triton.log")
    with pytest.raises(HostingError, match="SyntaxError"):
        triton.start()
    assert str(triton.state) == "failed"
    assert not triton.wait_for(TritonState.READY, 1.0)


def test_stopping_while_it_starts_ends_the_start(runtime: TritonRuntime, tmp_path: Path) -> None:
    code = DOUBLE.replace(
        "    def execute",
        "    def initialize(self, args):\n        import time; time.sleep(60)\n\n    def execute",
    )
    stage(python_model(tmp_path, code), tmp_path / "staged")
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=tmp_path / "triton.log")
    with ThreadPoolExecutor(1) as pool:
        start = pool.submit(triton.start)
        while triton.server is None or not (tmp_path / "triton.log").exists():
            threading.Event().wait(0.05)
        triton.stop()
        assert isinstance(start.exception(20.0), HostingError)
    assert str(triton.state) == "stopped"
