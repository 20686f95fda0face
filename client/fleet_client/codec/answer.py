"""Answers: the body of an answered invocation becomes named arrays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet_client.codec.datatypes import BF16, BYTES, NUMPY, Array, from_list, objects, unpack_strings
from fleet_client.codec.request import BINARY, JSON
from fleet_client.errors import AnswerError

_BINARY = re.compile(re.escape(BINARY) + "([0-9]{1,18})")
_BF16 = np.dtype("<u2")


def decode(body: bytes, content_type: str) -> dict[str, Array]:
    """The outputs of an answer by their names; some may have come by JSON, others as binary data.

    All arrays are read-only. What came as binary data is a view of `body`, not a copy, except BOOL, BYTES and
    BF16; it begins where the header ends, so its numbers are rarely aligned in memory, which numpy handles.
    `array.copy()` is writable and aligned. BYTES are `bytes` objects either way, BF16 becomes float32.

    Raises:
        AnswerError: the body is cut off, contradicts itself, or is of another content type.
    """
    header_size = _header_size(body, content_type)
    outputs: dict[str, Array] = {}
    at = header_size
    for header in _output_headers(body[:header_size]):
        output = _Output.read(header)
        if output.name in outputs:
            raise AnswerError(f"output {output.name!r} is given twice")
        if output.binary_size is None:
            values = output.from_json()
        else:
            if at + output.binary_size > len(body):
                rest = len(body) - at
                raise AnswerError(
                    f"output {output.name!r} has {output.binary_size} bytes, and {rest} are left"
                )
            values = output.from_binary(memoryview(body)[at : at + output.binary_size])
            at += output.binary_size
        outputs[output.name] = output.reshape(values)
    if at != len(body):
        raise AnswerError(f"{len(body) - at} bytes are left after the last output")
    return outputs


@dataclass(frozen=True)
class _Output:
    name: str
    datatype: str
    shape: list[int]
    binary_size: int | None
    data: object

    @staticmethod
    def read(header: object) -> _Output:
        # An answer without binary bytes, all its outputs being empty, is application/json with sizes of 0.
        match header:
            case {
                "name": str(name),
                "datatype": str(datatype),
                "shape": list(shape),
                "parameters": {"binary_data_size": size},
            }:
                data, sizes = None, [*shape, size]
            case {"name": str(name), "datatype": str(datatype), "shape": list(shape), "data": data}:
                size, sizes = None, shape
            case _:
                raise AnswerError(f"an output is described by {_cut(header)}")
        if any(type(size) is not int or size < 0 for size in sizes):
            raise AnswerError(f"output {name!r} has the shape {_cut(shape)} and the size {_cut(size)}")
        if datatype not in NUMPY and datatype not in (BYTES, BF16):
            raise AnswerError(f"output {name!r} is of an unknown data type: {datatype}")
        return _Output(name, datatype, shape, size, data)

    def from_binary(self, data: memoryview) -> Array:
        if self.datatype == BYTES:
            return unpack_strings(self.name, data)
        dtype = _BF16 if self.datatype == BF16 else NUMPY[self.datatype]
        if len(data) % dtype.itemsize:
            raise AnswerError(
                f"output {self.name!r} has {len(data)} bytes, which is not a multiple of {dtype.itemsize}"
            )
        if self.datatype == BF16:
            bits = np.frombuffer(data, _BF16).astype(np.dtype("<u4")) << 16
            return bits.view(NUMPY["FP32"])
        if self.datatype == "BOOL":
            # Triton passes on any byte, and a numpy bool of another one than 0 and 1 is neither.
            return np.frombuffer(data, np.uint8).astype(np.bool_)
        return np.frombuffer(data, dtype)

    def from_json(self) -> Array:
        try:
            if self.datatype == BYTES:
                return objects(_texts(np.array(self.data, dtype=np.object_)))
            return from_list(self.data, "FP32" if self.datatype == BF16 else self.datatype)
        except ValueError as error:
            problem = f"are not {self.datatype}: {error}"
            raise AnswerError(f"the values of output {self.name!r} {problem}") from error

    def reshape(self, values: Array) -> Array:
        try:
            array = values.reshape(self.shape)
        except ValueError as error:
            problem = f"has the shape {_cut(self.shape)} and {values.size} values"
            raise AnswerError(f"output {self.name!r} {problem}") from error
        array.flags.writeable = False
        return array


def _texts(array: Array) -> list[bytes]:
    texts = array.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not all are text in one regular list")
    return [text.encode() for text in texts]


def _header_size(body: bytes, content_type: str) -> int:
    if content_type.partition(";")[0].strip() == JSON:
        return len(body)
    match = _BINARY.fullmatch(content_type)
    if match is None:
        raise AnswerError(f"the answer is of the content type {content_type!r}")
    size = int(match[1])
    if size > len(body):
        raise AnswerError(f"the answer has {len(body)} bytes, and its header alone should have {size}")
    return size


def _output_headers(header: bytes) -> list[Any]:
    try:
        answer = json.loads(str(header, "utf-8"))
    except UnicodeDecodeError as error:
        remedy = "BYTES that are not UTF-8 can come as binary data only"
        raise AnswerError(f"the answer's JSON is not UTF-8: {error}; {remedy}") from error
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"the answer is not JSON: {error}") from error
    match answer:
        case {"outputs": list(outputs)}:
            return outputs
    raise AnswerError(f"the answer has no outputs: {_cut(answer)}")


def _cut(value: object) -> str:
    try:
        text = repr(value)
    except RecursionError:  # what could just be parsed may be too deep to be written
        return "nested too deeply to be shown"
    return text if len(text) <= 80 else f"{text[:77]}…"
