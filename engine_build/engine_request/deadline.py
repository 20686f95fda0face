"""Until when a build may take."""

from __future__ import annotations

import time
from collections.abc import Callable

from .problems import TIME_OUT, BuildError


class Deadline:
    """So many seconds from now on; `clock` tells seconds that only grow."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._clock = seconds, clock
        self._end = clock() + seconds

    def left(self, what: str) -> float:
        """The seconds that are left for something.

        Raises:
            BuildError: there are none.
        """
        left = self._end - self._clock()
        if left <= 0:
            raise self.passed(what)
        return left

    def passed(self, what: str) -> BuildError:
        """The error of what took too long."""
        return BuildError(
            TIME_OUT, f"the build may take {self.seconds:.0f} seconds, which have passed: {what}"
        )
