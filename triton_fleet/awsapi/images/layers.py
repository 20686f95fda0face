"""The names of the files in a layer: a tar stream, plain or compressed, of which only headers are kept.

Source: OCI image specification, layer.md; RFC 8878, the magic number of Zstandard.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from triton_fleet.repository.reading.gunzip import Bounds, gunzip
from triton_fleet.repository.reading.tar import members
from triton_fleet.repository.stream import PIECE, CutOffError, Stream, UnreadableError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_MODULE = "compression.zstd"
"""What Python has since 3.14."""


class NoZstdError(Exception):
    """A layer is compressed with Zstandard, which this Python cannot undo."""


class Unzstd(Stream):
    """What a Zstandard stream holds."""

    def __init__(self, packed: Stream, bounds: Bounds) -> None:
        super().__init__()
        self._packed, self._bounds = packed, bounds
        self._zstd: Any = import_module(ZSTD_MODULE)
        self._inflate = self._zstd.ZstdDecompressor()

    def _next(self) -> bytes:
        piece = b""
        while not piece:
            data = b""
            if self._inflate.eof:
                data = self._inflate.unused_data or self._packed.read(PIECE)
                if not data:
                    return b""
                self._inflate = self._zstd.ZstdDecompressor()
            elif self._inflate.needs_input:
                data = self._packed.read(PIECE)
                if not data:
                    raise CutOffError("it is cut off: the end of its Zstandard stream is missing")
            try:
                piece = self._inflate.decompress(data, PIECE)
            except self._zstd.ZstdError as error:
                raise UnreadableError(f"its Zstandard stream is damaged: {error}") from error
        self._bounds.unpack(len(piece))
        return piece


def layer_paths(packed: Stream, bounds: Bounds) -> Iterator[str]:
    """The names of a layer's entries, those of folders with a `/` at the end.

    Raises:
        UnreadableError: it is not a tar stream, a damaged one, or more than `bounds` lets through.
        NoZstdError: this Python cannot read it.
    """
    stream = packed
    if packed.peek(len(ZSTD_MAGIC)) == ZSTD_MAGIC:
        if not has_zstd():
            raise NoZstdError
        stream = Unzstd(packed, bounds)
    for member in members(gunzip(stream, bounds), bounds):
        yield f"{member.path.rstrip('/')}/" if member.is_folder else member.path


def has_zstd() -> bool:
    """Whether this Python can undo Zstandard."""
    return find_spec("_zstd") is not None
