"""The processes in which the CDK runs: none outlives the command, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triton_fleet.process_guard import start_guarded

SECONDS_TO_END = 5.0


class CdkEndedError(Exception):
    """A process of the CDK was ended by `CdkProcesses.end`, or not started after it."""


@dataclass
class CdkProcesses:
    """The running processes, by process group, and whether no other may start.

    All run in the same folder with the same environment. Threads may start them at one time.
    """

    folder: Path
    environment: Mapping[str, str]
    ended: bool = False
    _groups: set[int] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def process(self, command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command; its process group has ended, or is not to be ended any more, when this is left.

        Args:
            command: what is run.
            options: further arguments of `subprocess.Popen`.

        Raises:
            CdkEndedError: another thread has called `end`.
        """
        with self._changed:
            if self.ended:
                raise CdkEndedError
            process, guard = start_guarded(command, cwd=self.folder, env=self.environment, **options)
            self._groups.add(process.pid)
        try:
            yield process
        except BaseException:
            _end(process)
            raise
        finally:
            guard.kill()
            guard.communicate()
            with self._changed:
                self._groups.discard(process.pid)
                self._changed.notify_all()

    def end(self) -> None:
        """End what runs in any thread, and start nothing more; return when it has ended."""
        with self._changed:
            self.ended = True
            for number in (signal.SIGTERM, signal.SIGKILL):
                for group in self._groups:
                    _signal(group, number)
                self._changed.wait_for(lambda: not self._groups, SECONDS_TO_END)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=SECONDS_TO_END)
            break


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)
