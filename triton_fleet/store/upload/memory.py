"""The memory that all uploads of one command share."""

from __future__ import annotations

import threading


class CancelledError(Exception):
    """The command is ending."""


class MemoryBudget:
    """A budget of bytes; a request for more than are free waits.

    There is no deadlock if each user takes one part at a time and returns it before taking another.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free = size
        self._changed = threading.Condition()
        self._is_cancelled = False

    def take(self, size: int) -> None:
        """Wait until so many bytes are free, and take them.

        Raises:
            CancelledError: the command is ending.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_cancelled or self._free >= size)
            if self._is_cancelled:
                raise CancelledError
            self._free -= size

    def give_back(self, size: int) -> None:
        """Return bytes to the budget."""
        with self._changed:
            self._free += size
            self._changed.notify_all()

    def cancel(self) -> None:
        """Refuse all further requests."""
        with self._changed:
            self._is_cancelled = True
            self._changed.notify_all()
