"""Builds and jobs of the embedded AWS end when they should, with all that they started."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import psutil

from fleet_emulator.work.task import ExitReason, Task, WorkProcess

FOREVER = ["sleep", "1000"]


def test_a_command_ends_with_its_code_and_all_its_lines(tmp_path: Path) -> None:
    lines: list[str] = []
    command = ["bash", "-c", "echo one; printf two; exit 7"]
    outcome = Task(seconds=60).run(command, os.environ, folder=tmp_path, write=lines.append)
    assert (outcome.exit_reason, outcome.code, lines) == (ExitReason.EXIT, 7, ["one", "two"])


def test_a_command_that_a_signal_ends_has_the_code_that_a_shell_gives_it(tmp_path: Path) -> None:
    outcome = Task(seconds=60).run(["bash", "-c", "kill -KILL $$"], os.environ, folder=tmp_path, write=print)
    assert outcome.code == 128 + 9


def test_a_command_out_of_time_is_ended(tmp_path: Path) -> None:
    outcome = Task(seconds=0).run(FOREVER, os.environ, folder=tmp_path, write=print)
    assert outcome.exit_reason is ExitReason.TIME_OUT
    assert not outcome.is_success


def test_nothing_runs_in_a_task_that_was_stopped(tmp_path: Path) -> None:
    task = Task(seconds=60)
    task.stop()
    outcome = task.run(["touch", "made"], os.environ, folder=tmp_path, write=print)
    assert outcome.exit_reason is ExitReason.STOP
    assert not (tmp_path / "made").exists()


def test_what_will_not_end_is_killed_with_what_left_its_group(tmp_path: Path) -> None:
    lines: list[str] = []
    event, on_end = threading.Event(), threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        event.set()

    stubborn = "trap '' TERM; setsid sleep 1000 & echo $!; while :; do wait; done"
    process = WorkProcess(["bash", "-c", stubborn], os.environ, folder=tmp_path, write=say, on_end=on_end.set)
    assert event.wait(30)
    child = psutil.Process(int(lines[0]))
    process.stop(grace=0)
    assert on_end.is_set()
    assert process.returncode == 128 + 9
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
