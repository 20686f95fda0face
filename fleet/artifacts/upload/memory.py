"""The memory that all uploads of one command share."""

from __future__ import annotations

import threading


class CancelledError(Exception):
    """The command that wanted it is ending."""


class MemoryBudget:
    """So many bytes; who wants more than are free waits.

    Nobody deadlocks who takes one part at a time and gives it back without taking another.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free = size
        self._changed = threading.Condition()
        self._is_cancelled = False

    def take(self, size: int) -> None:
        """Wait until that much is free, and take it.

        Raises:
            CancelledError: the command is ending.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_cancelled or self._free >= size)
            if self._is_cancelled:
                raise CancelledError
            self._free -= size

    def give_back(self, size: int) -> None:
        """Let others have it."""
        with self._changed:
            self._free += size
            self._changed.notify_all()

    def cancel(self) -> None:
        """Give nothing any more."""
        with self._changed:
            self._is_cancelled = True
            self._changed.notify_all()
