"""The deadline of a build."""

from __future__ import annotations

import time
from collections.abc import Callable

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
