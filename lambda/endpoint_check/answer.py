"""What a model answers: its outputs, taken out of the body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from .datatypes import count, unpacked
from .sample import BINARY


class AnswerError(Exception):
    """The body is no answer of Triton's."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """One tensor."""

    datatype: str
    shape: list[int]
    data: bytes

    @property
    def values(self) -> Iterator[Any]:
        """Its values in row-major order."""
        return unpacked(self.datatype, self.data)


def outputs_of(body: bytes, content_type: str) -> dict[str, Output]:
    """The outputs by name.

    Raises:
        AnswerError: it is cut off, or of another format.
    """
    size = content_type.removeprefix(BINARY)
    if size == content_type or not size.isdecimal():
        raise AnswerError(f"has content type {content_type!r}, not Triton's binary one")
    found = {}
    try:
        at = int(size)
        for each in json.loads(body[:at])["outputs"]:
            end = at + each["parameters"]["binary_data_size"]
            output = Output(datatype=each["datatype"], shape=each["shape"], data=body[at:end])
            if end > len(body) or count(output.datatype, output.data) != prod(output.shape):
                raise ValueError(f"output {each['name']} is cut off")
            found[each["name"]] = output
            at = end
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AnswerError(f"cannot be read: {type(error).__name__}: {error}") from error
    return found
