"""The inputs and outputs of an ONNX graph, read without its weights."""

from __future__ import annotations

from dataclasses import dataclass

TENSOR = "ONNX_TYPE_TENSOR"


@dataclass(frozen=True)
class OnnxTensor:
    """A tensor, with its Triton data type: `TYPE_FP32`; "" if it is not a tensor or Triton has no such type.

    A dimension is -1 where the graph leaves it open or gives it a name; `shape` is None where it has none.
    `onnx_type` is what it is instead of a tensor, as Triton's backend calls it.
    """

    name: str
    data_type: str
    shape: tuple[int, ...] | None
    onnx_type: str = TENSOR


@dataclass(frozen=True)
class OnnxHeader:
    """A graph's header; `problem` is why it cannot be read or loaded, or empty.

    `inputs` are without those that an initializer gives a value; those of them that a request may give
    another value are `overridable`. ONNX Runtime may know more of the outputs: it infers dimensions that the
    file leaves open. `external` are the files, relative to the graph's folder, that hold weights.
    `ir_version` is the version of the file's format, 0 if it has none; `opsets` are the versions of the
    operator sets by domain, in the file's order. `certain` is False if only this reader has the problem.
    """

    inputs: tuple[OnnxTensor, ...] = ()
    outputs: tuple[OnnxTensor, ...] = ()
    overridable: tuple[OnnxTensor, ...] = ()
    external: tuple[str, ...] = ()
    ir_version: int = 0
    opsets: tuple[tuple[str, int], ...] = ()
    problem: str = ""
    certain: bool = True
