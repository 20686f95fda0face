"""A tar stream with progress and a limit."""

from __future__ import annotations

from collections.abc import Callable

from triton_fleet.core.tar_writer import Sink
from triton_fleet.store.upload.errors import ContentChangedError

STEP = 1 << 20


class Meter:
    """Passes bytes on to a sink, if there is one; calls `progress` with a MiB or more at a time.

    It refuses what exceeds `size` bytes: memory and parts are planned for no more.
    """

    def __init__(
        self, size: int, progress: Callable[[int], None] = lambda _: None, sink: Sink | None = None
    ) -> None:
        self._size, self._progress, self._sink = size, progress, sink
        self._passed = self._reported = 0

    def write(self, data: bytes) -> int:
        """Take the next bytes.

        Raises:
            ContentChangedError: they are too many.
        """
        if self._passed + len(data) > self._size:
            raise ContentChangedError(f"longer than the expected {self._size} bytes")
        if self._sink is not None:
            self._sink.write(data)
        self._passed += len(data)
        if self._passed - self._reported >= STEP:
            self._progress(self._passed - self._reported)
            self._reported = self._passed
        return len(data)

    def finish(self) -> None:
        """Call `progress` with what is left of the size, as nothing more comes."""
        self._progress(self._size - self._reported)
