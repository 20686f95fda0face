"""A process whose lines are read as it writes them, and whose end also ends all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from fleet_emulator.product import start_guarded

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
        ended: Callable[[], None],
    ) -> None:
        self.returncode = 0
        """As in a shell: 128 and the signal's number for a process that a signal ended."""
        self._write, self._ended = write, ended
        self._dead = threading.Event()
        self._lock = threading.Lock()
        self._left: list[psutil.Process] = []
        self._process, self._guard = start_guarded(
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
                self._left += psutil.Process(self._process.pid).children(recursive=True)
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
            for each in self._left:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            psutil.wait_procs(self._left, _SECONDS_TO_READ)
            self._guard.kill()
            self._guard.communicate()
            code = self._process.wait()
            self.returncode = code if code >= 0 else 128 - code
        self._reader.join(_SECONDS_TO_READ)
        if not self._reader.is_alive() and self._process.stdout is not None:
            self._process.stdout.close()
        self._dead.set()
        self._ended()
