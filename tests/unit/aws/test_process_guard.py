"""A guarded command never outlives the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from triton_fleet.process_guard import start_with_guard

# In place of the start of the guard, the process is ended: the moment at which nothing watches the command.
KILLED_BEFORE_THE_GUARD = """\
import os, signal, subprocess, sys
from triton_fleet.process_guard import start_with_guard
start = subprocess.Popen
def popen(command, **options):
    if "guard" in command:
        os.kill(os.getpid(), signal.SIGKILL)
    process = start(command, **options)
    print(process.pid, flush=True)
    return process
subprocess.Popen = popen
start_with_guard(["touch", sys.argv[1]])
"""


def test_a_command_does_not_begin_if_its_starter_is_killed_before_the_guard_watches(tmp_path: Path) -> None:
    initial_folder = tmp_path / "begun"
    starter = subprocess.run(
        [sys.executable, "-c", KILLED_BEFORE_THE_GUARD, str(initial_folder)], capture_output=True, text=True
    )
    assert starter.returncode == -signal.SIGKILL, starter.stderr
    _, survivors = psutil.wait_procs(
        [item for item in psutil.process_iter() if item.pid == int(starter.stdout)], timeout=30
    )
    assert survivors == []
    assert not initial_folder.exists()


def test_a_command_has_no_input_and_its_own_exit_status() -> None:
    process, guard = start_with_guard(["sh", "-c", "cat; exit 7"])
    assert process.wait(30) == 7
    guard.kill()
    guard.communicate()


@pytest.mark.parametrize(("grace", "code"), [(0, -signal.SIGKILL), (5, 21)])
def test_a_group_whose_starter_is_gone_may_end_in_order_within_its_grace(grace: int, code: int) -> None:
    waits = "trap 'exit 21' TERM; echo waits; while :; do sleep 0.05; done"
    process, guard = start_with_guard(["sh", "-c", waits], grace=grace, stdout=subprocess.PIPE)
    with process, guard:
        assert process.stdout is not None
        assert guard.stdin is not None
        process.stdout.readline()
        guard.stdin.close()  # as the end of this process would
        assert process.wait(30) == code
        os.killpg(guard.pid, signal.SIGKILL)
