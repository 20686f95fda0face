"""A stand-in for the module that Triton's Python stub gives to models, which no other process can import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

NAME = "triton_python_backend_utils"
Array = np.ndarray[Any, Any]


class TritonError(Exception):
    """The words that a caller gets instead of tensors, and the code that Triton makes a status of."""

    INTERNAL, INVALID_ARG = 1, 3

    def __init__(self, message: str, code: int = INTERNAL) -> None:
        self.code = code
        super().__init__(message)


class TritonModelException(Exception):
    """The words with which a load fails."""


@dataclass(frozen=True)
class Tensor:
    name_of_tensor: str
    array: Array

    def name(self) -> str:
        return self.name_of_tensor

    def as_numpy(self) -> Array:
        return self.array


@dataclass(frozen=True)
class InferenceResponse:
    tensors: Sequence[Tensor] = ()
    error: TritonError | None = None


@dataclass(frozen=True)
class InferenceRequest:
    arrays: Mapping[str, Array]
    output_names: Sequence[str]

    def inputs(self) -> list[Tensor]:
        return [Tensor(name, array) for name, array in self.arrays.items()]

    def requested_output_names(self) -> list[str]:
        return list(self.output_names)


def python_backend() -> ModuleType:
    module = ModuleType(NAME)
    known_values = (TritonError, TritonModelException, Tensor, InferenceResponse, InferenceRequest)
    module.__dict__.update({value.__name__: value for value in known_values})
    return module
