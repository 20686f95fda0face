"""Running trtexec or Docker: the output goes to the log as it comes, and nothing of it outlives the build."""

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

KEPT = 4000
"""Lines of its end that are looked through for the reason of a failure."""
LONGEST = 1 << 14
"""Characters; of a longer line each such part is a line."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, and its last lines."""

    exit_code: int
    lines: Sequence[str]


def run(command: Sequence[str], deadline: Deadline) -> Ended:
    """Run a command in a process group of its own, to its end.

    Raises:
        BuildError: the deadline has passed; the whole group is killed.
    """
    what = f"{command[0]} was stopped"
    seconds = deadline.left(what)
    print("+ " + " ".join(command))
    kept: deque[str] = deque(maxlen=KEPT)
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
            for line in iter(partial(cast(IO[str], process.stdout).readline, LONGEST), ""):
                kept.append(line.rstrip("\n"))
                print(line, end="")
            process.wait()
        finally:
            timer.cancel()
            _kill(process)
    if is_late.is_set():
        raise deadline.passed(what)
    return Ended(process.returncode, tuple(kept))


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the group: a child that outlived its parent would keep the GPU."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
