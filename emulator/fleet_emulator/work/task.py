"""A command as a process of this machine, with a time limit, and with all that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from queue import Empty, Queue

import psutil

from fleet_emulator.product import start_with_guard

_GRACE = 2
"""Seconds to end in order, for what runs when this very process is gone."""
_MAX_LINE = 1 << 18
"""In bytes; an event of CloudWatch Logs has a limit, and a line without an end would fill the memory."""
_SECONDS_TO_READ = 5.0
"""For the output before the end; a process that left the group may hold the pipe open for ever."""


class WorkProcess:
    """A command in a group of its own; `write` gets each line of its output, `ended` is called once after."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: Path,
        write: Callable[[str], None],
        on_end: Callable[[], None],
    ) -> None:
        self.returncode = 0
        """As in a shell: 128 and the signal's number for a process that a signal ended."""
        self._write, self._on_end = write, on_end
        self._dead = threading.Event()
        self._lock = threading.Lock()
        self._descendants: list[psutil.Process] = []
        self._process, self._guard = start_with_guard(
            command,
            grace=_GRACE,
            env=dict(environment),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reader = threading.Thread(target=self._read, name="work-output", daemon=True)
        self._reader.start()
        threading.Thread(target=self._bury, name="work-end", daemon=True).start()

    def stop(self, grace: float) -> None:
        """Ask the group to end, kill it and all descendants after `grace` seconds; return when it is gone."""
        self._signal(signal.SIGTERM)
        if not self._dead.wait(grace):
            self._signal(signal.SIGKILL)
            self._dead.wait()

    def _signal(self, number: signal.Signals) -> None:
        with self._lock, suppress(ProcessLookupError, psutil.NoSuchProcess):
            if not self._dead.is_set():
                # They may have groups of their own, and cannot be found once their parent is gone.
                self._descendants += psutil.Process(self._process.pid).children(recursive=True)
                os.killpg(self._process.pid, number)

    def _read(self) -> None:
        output = self._process.stdout
        while output is not None and (line := output.readline(_MAX_LINE)):
            self._write(line.decode("utf-8", "replace").rstrip("\r\n"))

    def _bury(self) -> None:
        # Not reaped yet: as long as the process is a zombie, no other process or group has its number.
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            for process in self._descendants:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(self._descendants, _SECONDS_TO_READ)
            self._guard.kill()
            self._guard.communicate()
            code = self._process.wait()
            self.returncode = code if code >= 0 else 128 - code
        self._reader.join(_SECONDS_TO_READ)
        if not self._reader.is_alive() and self._process.stdout is not None:
            self._process.stdout.close()
        self._dead.set()
        self._on_end()


SECONDS_TO_STOP = 20.0
"""Between SIGTERM and SIGKILL. SageMaker documents 120 for jobs, for CodeBuild it is not documented: here no
instance is released, so a shorter wait does."""


class ExitReason(Enum):
    """Why a command is no more."""

    EXIT = auto()
    STOP = auto()
    TIME_OUT = auto()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command ended; `code` is its exit code, as in a shell."""

    exit_reason: ExitReason
    code: int

    @property
    def is_success(self) -> bool:
        """Whether it ended by itself, with 0."""
        return self.exit_reason is ExitReason.EXIT and self.code == 0


class Task:
    """May be stopped from any thread, before, while and after a command runs."""

    def __init__(self, *, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._events: Queue[ExitReason] = Queue()
        self._is_stopped = False

    def stop(self) -> None:
        """Have the command that runs end, and none run after it."""
        self._is_stopped = True
        self._events.put(ExitReason.STOP)

    def run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: Path,
        write: Callable[[str], None],
    ) -> Outcome:
        """Run a command in a folder; return when it and all that it started are gone.

        Raises:
            OSError: it cannot be started.
        """
        if self._is_stopped:
            return Outcome(exit_reason=ExitReason.STOP, code=0)
        process = WorkProcess(
            command, environment, folder=folder, write=write, on_end=lambda: self._events.put(ExitReason.EXIT)
        )
        try:
            exit_reason = self._events.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except Empty:
            exit_reason = ExitReason.TIME_OUT
        if exit_reason is not ExitReason.EXIT:
            process.stop(SECONDS_TO_STOP)
        return Outcome(exit_reason=exit_reason, code=process.returncode)
