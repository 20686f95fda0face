"""A process group leaves nothing behind: no child, no shared memory, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from triton_fleet.local.triton.process import SHARED_MEMORY, ProcessGroup

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="process groups of Triton exist on Linux only"
)

CHILDREN = "sleep 1000 & sleep 1000 & echo started; wait"
DEAF = "trap '' TERM; sleep 1000 & echo started; while :; do wait; done"


def _until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        pause.wait(0.02)
    return False


def _members(group: int) -> list[int]:
    members = []
    for process in psutil.process_iter(["status"]):
        try:
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                members.append(process.pid)
        except ProcessLookupError:
            continue
    return members


def _start(folder: Path, script: str) -> tuple[ProcessGroup, Path]:
    prefix = f"fleet_test_{uuid.uuid4().hex}_"
    region = SHARED_MEMORY / f"{prefix}region"
    region.write_bytes(b"0")
    log = folder / "log"
    group = ProcessGroup(["/bin/sh", "-c", script], {}, log=log, cwd=folder, shm_prefix=prefix)
    assert _until(lambda: "started" in log.read_text())
    return group, region


def test_stopping_ends_the_process_its_children_and_its_shared_memory(tmp_path: Path) -> None:
    group, region = _start(tmp_path, CHILDREN)
    assert len(_members(group.pid)) == 3
    group.stop(grace=5.0)
    assert group.dead.is_set()
    assert group.returncode == -signal.SIGTERM
    assert group.is_stopped
    assert _until(lambda: not _members(group.pid))
    assert not region.exists()


def test_a_process_that_does_not_listen_is_killed_after_the_grace(tmp_path: Path) -> None:
    group, _ = _start(tmp_path, DEAF)
    group.stop(grace=0.1)
    assert group.returncode == -signal.SIGKILL
    assert _until(lambda: not _members(group.pid))


def test_killing_the_process_ends_its_children_and_is_told(tmp_path: Path) -> None:
    group, region = _start(tmp_path, CHILDREN)
    os.kill(group.pid, signal.SIGKILL)
    assert group.dead.wait(5.0)
    group.stop(grace=0.0)
    assert not group.is_stopped
    assert _until(lambda: not _members(group.pid))
    assert not region.exists()


def test_stopping_what_has_ended_does_nothing(tmp_path: Path) -> None:
    group, _ = _start(tmp_path, "echo started; exit 3")
    assert group.dead.wait(5.0)
    group.stop(grace=1.0)
    assert group.returncode == 3


def test_killing_the_process_that_started_the_group_ends_the_group(tmp_path: Path) -> None:
    starter = """
import sys, threading
from pathlib import Path
from triton_fleet.local.triton.process import ProcessGroup
folder, command = Path(sys.argv[1]), ["/bin/sh", "-c", sys.argv[2]]
group = ProcessGroup(command, {}, log=folder / "log", cwd=folder, shm_prefix="fleet_test_none_")
print(group.pid, flush=True)
threading.Event().wait()
"""
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", starter, str(tmp_path), CHILDREN], cwd=root, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        group = int(process.stdout.readline())
        assert _until(lambda: len(_members(group)) == 3)
        process.kill()
    assert _until(lambda: not _members(group))
