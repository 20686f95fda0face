"""A process that the container starts: its lines go to the log, and it never outlives the container."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from .log import MAX_CHARACTERS

KEPT_LINES = 200
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl
"""Looked up here: after a fork, the loader's lock may belong to a thread that does not exist."""


class Child:
    """A command in a process group of its own; it ends with the thread that starts it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        stdout: Callable[[str], None],
        stderr: Callable[[str], None],
        on_end: Callable[[Child], None],
    ) -> None:
        """Start the command.

        Args:
            name: What the log calls it.
            command: Program and arguments.
            stdout: Is called with each line of it.
            stderr: As `stdout`.
            on_end: Is called once, from another thread, when the process has ended and its lines are written.

        Raises:
            OSError: the program cannot be started.
        """
        self.name = name
        self.returncode: int | None = None
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        """The last lines that it wrote."""
        self._lock = threading.Lock()
        self._on_end = on_end
        parent = os.getpid()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            preexec_fn=lambda: _end_with(parent),
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None and self._process.stderr is not None  # noqa: S101 - for mypy
        self._readers = [
            threading.Thread(target=self._copy, args=(stream, write), name=f"{name}-log", daemon=True)
            for stream, write in ((self._process.stdout, stdout), (self._process.stderr, stderr))
        ]
        for reader in self._readers:
            reader.start()
        self._waiter = threading.Thread(target=self._wait, name=name, daemon=True)
        self._waiter.start()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it still runs."""
        with self._lock:
            if self.returncode is None:
                with suppress(ProcessLookupError):
                    os.kill(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended after that many seconds at most."""
        self._waiter.join(max(seconds, 0))
        return not self._waiter.is_alive()

    def kill(self) -> None:
        """End it and all that it started by force."""
        with self._lock:
            if self.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> str:
        """How it ended, as the end of a sentence."""
        code = self.returncode
        if code is None:
            return "still runs"
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    def _copy(self, stream: IO[str], write: Callable[[str], None]) -> None:
        with stream:
            while text := stream.readline(MAX_CHARACTERS):
                if line := text.rstrip("\n"):
                    self.lines.append(line)
                    write(line)

    def _wait(self) -> None:
        # Not reaped yet: as long as it is a zombie, no other process or group has its number.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self.returncode = self._process.wait()
        for reader in self._readers:
            reader.join(2)
        self._on_end(self)


def _end_with(parent: int) -> None:
    """In the child: be asked to end when the parent's main thread ends, even by SIGKILL."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)
