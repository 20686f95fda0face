"""Results of a read by name, errors included, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from triton_fleet.findings import FindingsError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class ReadCache(Generic[K, T]):
    """A function that reads something by its name, and reads each once; callers must not change a result."""

    def __init__(self, read: Callable[[K], T]) -> None:
        """Read nothing yet."""
        self._read, self._results = read, dict[K, T | FindingsError]()

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
