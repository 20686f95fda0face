"""Runs trtexec or Docker: the output goes to the log as it comes, and no process outlives the build."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, cast

from .deadline import Deadline

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
