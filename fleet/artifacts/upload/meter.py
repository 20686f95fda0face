"""A tar stream with progress and a limit."""

from __future__ import annotations

from collections.abc import Callable

from fleet.artifacts.archive import Sink
from fleet.artifacts.upload.errors import ContentChangedError

StreamWriter = Callable[[Sink], object]
STEP = 1 << 20


def with_meter(write_stream: StreamWriter, size: int, progress: Callable[[int], None]) -> StreamWriter:
    """The same stream; `progress` is called with its bytes, a MiB or more at a time.

    It ends when it exceeds `size` bytes: memory and parts are planned for no more.

    Raises (when it is written):
        ContentChangedError: it is longer.
    """

    def write(sink: Sink) -> None:
        meter = _Meter(sink, size, progress)
        write_stream(meter)
        meter.tell()

    return write


class _Meter:
    def __init__(self, sink: Sink, size: int, progress: Callable[[int], None]) -> None:
        self._sink, self._size, self._progress = sink, size, progress
        self._passed = self._told = 0

    def write(self, data: bytes) -> int:
        if self._passed + len(data) > self._size:
            raise ContentChangedError(f"longer than the expected {self._size} bytes")
        self._sink.write(data)
        self._passed += len(data)
        if self._passed - self._told >= STEP:
            self.tell()
        return len(data)

    def tell(self) -> None:
        self._progress(self._passed - self._told)
        self._told = self._passed
