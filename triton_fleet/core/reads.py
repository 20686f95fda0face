"""Reads in bulk: each name once, names with all that they lead to, and rare garbage collection."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from triton_fleet.findings import FindingsError


def closure(names: Iterable[str], successors: Callable[[str], Iterable[str]]) -> list[str]:
    """The names, their successors and theirs, the nearest first and each once."""
    members = dict.fromkeys(names)
    queue = deque(members)
    while queue:
        nearest = dict.fromkeys(name for name in successors(queue.popleft()) if name not in members)
        members |= nearest
        queue += nearest
    return list(members)


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class ReadCache(Generic[K, T]):
    """A function that reads something by its name, and reads each once; callers must not change a result."""

    def __init__(self, read: Callable[[K], T]) -> None:
        """Read nothing yet."""
        self._read = read
        self._results: dict[K, T | FindingsError] = {}

    def __call__(self, name: K) -> T:
        """The result.

        Raises:
            FindingsError: as the function does, each time.
        """
        if name not in self._results:
            try:
                self._results[name] = self._read(name)
            except FindingsError as error:
                self._results[name] = error
        result = self._results[name]
        if isinstance(result, FindingsError):
            raise FindingsError(result.findings)
        return result

    def readable(self, name: K) -> T | None:
        """The result; None where the function raises findings, which whoever needs the result reports."""
        try:
            return self(name)
        except FindingsError:
            return None

    def forget(self, name: K) -> None:
        """Read it again the next time."""
        self._results.pop(name, None)


THRESHOLDS = (50_000, 20, 50)
"""Few cycles are made; Python's own thresholds cost a check a seventh of its time."""


def limit_garbage_collection() -> None:
    """Look for garbage, rarely, and never among what exists by now: none of it becomes any."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
