"""Runs trtexec or Docker up to the deadline: the output goes to the log, and no process outlives a build."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, cast

from .problems import TIME_OUT, BuildError


class Deadline:
    """So many seconds from now on; `clock` returns seconds that only grow."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._clock = seconds, clock
        self._end = clock() + seconds

    def require_time(self, activity: str) -> float:
        """The seconds that remain for an activity.

        Raises:
            BuildError: there are none.
        """
        seconds = self._end - self._clock()
        if seconds <= 0:
            raise self.time_out(activity)
        return seconds

    def time_out(self, activity: str) -> BuildError:
        """The error of an activity that took too long."""
        return BuildError(
            TIME_OUT, f"the build may take {self.seconds:.0f} seconds, which have passed: {activity}"
        )


MAX_LINES = 4000
"""The last lines, which are searched for the reason of a failure."""
MAX_LINE_CHARACTERS = 1 << 14
"""A longer line is split."""


@dataclass(frozen=True)
class ProcessResult:
    """The result of a process: its exit code, negative for a signal, and its last lines."""

    exit_code: int
    lines: Sequence[str]


def run(command: Sequence[str], deadline: Deadline) -> ProcessResult:
    """Run a command in a process group of its own, to its end.

    Raises:
        BuildError: the deadline has passed; the whole group is killed.
    """
    activity = f"{command[0]} was stopped"
    seconds = deadline.require_time(activity)
    print("+ " + " ".join(command))
    lines: deque[str] = deque(maxlen=MAX_LINES)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            _kill(process)

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            for line in iter(partial(cast(IO[str], process.stdout).readline, MAX_LINE_CHARACTERS), ""):
                lines.append(line.rstrip("\n"))
                print(line, end="")
            process.wait()
        finally:
            timer.cancel()
            _kill(process)
    if is_late.is_set():
        raise deadline.time_out(activity)
    return ProcessResult(process.returncode, tuple(lines))


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the group: a child that outlived its parent would keep the GPU."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
