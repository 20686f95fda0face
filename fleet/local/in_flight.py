"""The calls that are under way, so that what serves them can wait for their end."""

from __future__ import annotations

import threading


class Calls:
    """Counts calls; may be used from several threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def begin(self) -> None:
        """One more is under way."""
        with self._changed:
            self._count += 1

    def end(self) -> None:
        """One is over."""
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def all_ended(self, seconds: float) -> bool:
        """Whether none is under way, waiting for that for at most `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._count == 0, seconds)
