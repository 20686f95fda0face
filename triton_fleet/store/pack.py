"""A tar stream as gzip, compressed by several threads at about a gigabyte a second."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress

from isal import igzip, igzip_threaded

from triton_fleet.core.tar_writer import Sink
from triton_fleet.store.archive import DigestWriter

LEVEL, THREADS = 1, 2
"""Weights hardly compress: higher levels cost time and save nothing (docs/decisions/0008)."""
AT_ONCE = 4 << 20
"""Up to here, threads cost more than they save."""


def pack(write_stream: Callable[[Sink], object], packed: Sink, size: int) -> DigestWriter:
    """Compress a tar stream of `size` bytes; return its uncompressed digest and size.

    The same stream gives the same bytes on one type of processor: the header has no name and no time.
    """
    if size <= AT_ONCE:
        whole = io.BytesIO()
        stream = DigestWriter(whole)
        write_stream(stream)
        packed.write(igzip.compress(whole.getvalue(), LEVEL, mtime=0))
        return stream
    valve = _Valve(packed)
    zipped = igzip_threaded.open(valve, "wb", LEVEL, threads=THREADS)  # type: ignore[no-untyped-call]
    try:
        stream = DigestWriter(zipped)
        write_stream(stream)
    except BaseException:
        valve.is_shut = True
        with suppress(Exception):  # the first error is the one to report
            zipped.close()
        raise
    zipped.close()
    return stream


class _ShutError(Exception):
    """Discard the rest of a broken stream."""


class _Valve:
    """Passes bytes on until it is shut, so that closing a broken stream writes nothing more."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.is_shut = False

    def write(self, data: bytes) -> int:
        if self.is_shut:
            raise _ShutError
        self._sink.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing to flush."""
