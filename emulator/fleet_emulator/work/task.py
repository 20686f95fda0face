"""One build or job: it runs commands one after the other, until it is over, stopped, or out of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from queue import Empty, Queue

from fleet_emulator.work.process import WorkProcess

SECONDS_TO_STOP = 20.0
"""Between SIGTERM and SIGKILL. SageMaker documents 120 for jobs, for CodeBuild it is not documented: here no
instance is released, so a shorter wait does."""


class ExitReason(Enum):
    """Why a command is no more."""

    EXITED = auto()
    STOPPED = auto()
    TIMED_OUT = auto()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command ended; `code` is its exit code, as in a shell."""

    ending: ExitReason
    code: int

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself, with 0."""
        return self.ending is ExitReason.EXITED and self.code == 0


class Task:
    """May be stopped from any thread, before, while and after a command runs."""

    def __init__(self, *, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._events: Queue[ExitReason] = Queue()
        self._stopped = False

    def stop(self) -> None:
        """Have the command that runs end, and none run after it."""
        self._stopped = True
        self._events.put(ExitReason.STOPPED)

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
        if self._stopped:
            return Outcome(ending=ExitReason.STOPPED, code=0)
        process = WorkProcess(
            command,
            environment,
            folder=folder,
            write=write,
            ended=lambda: self._events.put(ExitReason.EXITED),
        )
        try:
            ending = self._events.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except Empty:
            ending = ExitReason.TIMED_OUT
        if ending is not ExitReason.EXITED:
            process.stop(SECONDS_TO_STOP)
        return Outcome(ending=ending, code=process.returncode)
