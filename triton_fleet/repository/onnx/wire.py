"""protobuf's wire format, read as a stream whose fields may be larger than the memory.

Source: https://protobuf.dev/programming-guides/encoding/, and protobuf's C++ parser for what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from triton_fleet.repository.stream import Stream

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
BUFFER = 1 << 14
MAX_FIELDS = 5_000_000
"""So many fields are read of all files together; a graph of 100,000 nodes has some two millions."""
MAX_TEXT = 1 << 20
"""Bytes of a field that is held in memory: a name, or an input with its shape."""


class WireError(Exception):
    """The bytes are not in the format; `certain` is False if they only exceed what is read here."""

    def __init__(self, problem: str, *, certain: bool = True) -> None:
        self.certain = certain
        super().__init__(problem)


class WireField(NamedTuple):
    """A field; `value` is its number, or of BYTES their length."""

    number: int
    kind: int
    value: int


@dataclass
class FieldBudget:
    """How many fields may still be read."""

    fields: int = MAX_FIELDS


class Wire:
    """A cursor over so many bytes of a stream; a field's bytes are to be taken, entered or skipped.

    Every method raises WireError where the bytes are not in the format, or end too early.
    """

    def __init__(self, stream: Stream, size: int, budget: FieldBudget) -> None:
        self._stream, self._budget = stream, budget
        self._buffer, self._at = b"", 0
        self.position, self.end = 0, size

    def fields(self, length: int) -> Iterator[WireField]:
        """The fields of a message of so many bytes; what is left of a field's bytes is skipped."""
        end = self._end(length)
        while self.position < end:
            self._budget.fields -= 1
            if self._budget.fields < 0:
                raise WireError("it has more fields than are read here", certain=False)
            tag = self._varint()
            field = self._field(tag >> 3, tag & 7)
            after = self._end(field.value) if field.kind == BYTES else self.position
            if after > end:
                raise WireError("a message in it ends within a field")
            yield field
            if after > self.position:
                self._skip(after - self.position)
        if self.position > end:
            raise WireError("a message in it ends within a field")

    def take(self, field: WireField) -> bytes:
        """The bytes of a field."""
        if field.value > MAX_TEXT:
            raise WireError(f"a name or a shape in it has {field.value} bytes", certain=False)
        content = self._buffer[self._at : self._at + field.value]
        self._at += len(content)
        if len(content) < field.value:
            content += self._stream.read_exact(field.value - len(content))
        self.position += len(content)
        if len(content) < field.value:
            raise self._cut_off()
        return content

    def _field(self, number: int, kind: int) -> WireField:
        if not 0 < number < 1 << 29:
            raise WireError(f"a field in it has the number {number}")
        if kind in (VARINT, BYTES):
            return WireField(number, kind, self._varint())
        if kind in (FIXED64, FIXED32):
            self._skip(8 if kind == FIXED64 else 4)
            return WireField(number, kind, 0)
        raise WireError(f"a field in it is of the kind {kind}")

    def _end(self, length: int) -> int:
        end = self.position + length
        if end > self.end:
            raise self._cut_off()
        return end

    def _varint(self) -> int:
        if self._at < len(self._buffer) and (value := self._buffer[self._at]) < 0x80:
            self._at += 1
            self.position += 1
            return value
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF
            shift += 7
            if shift > 63:
                raise WireError("a number in it has more than ten bytes")

    def _byte(self) -> int:
        if self._at == len(self._buffer):
            self._buffer, self._at = self._stream.read(min(BUFFER, self.end - self.position)), 0
            if not self._buffer:
                raise self._cut_off()
        self._at += 1
        self.position += 1
        return self._buffer[self._at - 1]

    def _skip(self, size: int) -> None:
        self.position += size
        self._at += size
        over = self._at - len(self._buffer)
        if over > 0:
            self._buffer, self._at = b"", 0
            if self._stream.skip(over) < over:
                raise self._cut_off()

    def _cut_off(self) -> WireError:
        return WireError(f"it is cut off after {self.end} bytes")
