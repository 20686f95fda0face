"""Several loads at one time, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Lets a thread that must be alone wait for those inside, and all others wait outside meanwhile."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Be inside with others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be inside alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
