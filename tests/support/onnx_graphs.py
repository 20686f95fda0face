"""Small ONNX graphs for tests: what they say matters, not what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import onnx
from onnx import TensorProto, helper, numpy_helper

from triton_fleet.repository.contents import OnnxHeader
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.onnx.wire import FieldBudget
from triton_fleet.repository.stream import Stream

Shape: TypeAlias = "Sequence[object] | None"
Tensors: TypeAlias = "Mapping[str, tuple[int, Shape]]"
"""Element types and shapes by name."""
FLOAT, INT8, INT32, STRING = TensorProto.FLOAT, TensorProto.INT8, TensorProto.INT32, TensorProto.STRING
INT64 = TensorProto.INT64


def graph_bytes(
    inputs: Tensors,
    outputs: Tensors,
    initializers: Sequence[TensorProto] = (),
    *,
    version: int = 8,
    nodes: Sequence[onnx.NodeProto] = (),
) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [_tensor(name, *item) for name, item in inputs.items()],
        [_tensor(name, *output) for name, output in outputs.items()],
        initializers,
    )
    model = helper.make_model(graph, ir_version=version, opset_imports=[helper.make_opsetid("", 17)])
    return bytes(model.SerializeToString())


def _tensor(name: str, element: int, shape: Shape) -> onnx.ValueInfoProto:
    dims: list[Any] | None = None if shape is None else list(shape)
    return helper.make_tensor_value_info(name, element, dims)


def external(name: str, location: str) -> TensorProto:
    """An initializer whose data lies in another file."""
    tensor = TensorProto(name=name, data_type=FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in {"offset": "0", "location": location, "length": "8"}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def weights(name: str, size: int = 2) -> TensorProto:
    import numpy as np

    return numpy_helper.from_array(np.zeros(size, np.float32), name)


def add(remaining_text: str, right: str, to: str) -> onnx.NodeProto:
    return helper.make_node("Add", [remaining_text, right], [to])


def header_of(content: bytes, budget: FieldBudget | None = None) -> OnnxHeader:
    """The header that is read of a graph's bytes."""
    return read_header(Stream(content), len(content), budget)
