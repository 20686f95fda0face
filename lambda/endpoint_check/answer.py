"""The answer of a model: its outputs, read from the body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from .datatypes import count, unpack
from .sample import BINARY


class AnswerError(Exception):
    """The body is not an answer of Triton's."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """One tensor."""

    datatype: str
    shape: list[int]
    data: bytes

    @property
    def values(self) -> Iterator[Any]:
        """Its values in row-major order."""
        return unpack(self.datatype, self.data)


def outputs_of(body: bytes, content_type: str) -> dict[str, Output]:
    """The outputs by name.

    Raises:
        AnswerError: it is cut off, or of another format.
    """
    size = content_type.removeprefix(BINARY)
    if size == content_type or not size.isdecimal():
        raise AnswerError(f"has content type {content_type!r}, not Triton's binary one")
    outputs = {}
    try:
        offset = int(size)
        for header in json.loads(body[:offset])["outputs"]:
            end = offset + header["parameters"]["binary_data_size"]
            output = Output(datatype=header["datatype"], shape=header["shape"], data=body[offset:end])
            if end > len(body) or count(output.datatype, output.data) != prod(output.shape):
                raise ValueError(f"output {header['name']} is cut off")
            outputs[header["name"]] = output
            offset = end
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AnswerError(f"cannot be read: {type(error).__name__}: {error}") from error
    return outputs
