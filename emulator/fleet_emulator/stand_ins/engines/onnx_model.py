"""The faults that trtexec finds in an ONNX model, where the model's own bytes show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.onnx.types import text
from triton_fleet.repository.onnx.wire import BYTES, Budget, Field, Wire, WireError
from triton_fleet.repository.stream import Stream

DOMAINS = frozenset({"", "ai.onnx"})
GRAPH, NODE = 7, 1
"""Fields of ModelProto and of GraphProto (onnx/onnx.proto), as are those below of NodeProto."""
OUTPUT, OPERATOR, DOMAIN = 2, 4, 7


class OnnxError(Exception):
    """What trtexec writes about the model, each argument a line."""


class _Node(NamedTuple):
    operator: str
    domain: str
    output: str


def require_importable(model: bytes) -> None:
    """Nothing, if all operators are of ONNX's own domain; which of those TensorRT lacks is not known here.

    Raises:
        OnnxError: one is not, or the bytes are not an ONNX model.
    """
    try:
        for number, node in enumerate(_nodes(model)):
            if node.domain not in DOMAINS:
                raise OnnxError(
                    f'While parsing node number {number} [{node.operator} -> "{node.output}"]:',
                    "ERROR: onnxOpCheckers.cpp In function checkFallbackPluginImporter: [6] creator && "
                    '"Plugin not found, are the plugin name, version, and namespace correct?"',
                    "Failed to parse onnx file",
                )
    except WireError as error:
        raise OnnxError(f"Failed to parse onnx file: {error}", "Parsing model failed") from error


def require_inputs(model: bytes, shapes: str) -> None:
    """Nothing, if shapes as trtexec takes them, `ids:1x128,mask:1x128`, are of inputs of the model.

    Raises:
        OnnxError: one is not.
    """
    inputs = {each.name for each in read_header(Stream(model), len(model)).inputs}
    for shape in shapes.split(",") if shapes else ():
        name = shape.rpartition(":")[0]
        if name not in inputs:
            raise OnnxError(
                f'Cannot find input tensor with name "{name}" in the network inputs! '
                "Please make sure the input tensor names are correct."
            )


def _nodes(model: bytes) -> Iterator[_Node]:
    wire = Wire(Stream(model), len(model), Budget())
    for graph in wire.fields(len(model)):
        if (graph.number, graph.kind) == (GRAPH, BYTES):
            for node in wire.fields(graph.value):
                if (node.number, node.kind) == (NODE, BYTES):
                    yield _node(wire, node)


def _node(wire: Wire, message: Field) -> _Node:
    found = {OUTPUT: "", OPERATOR: "", DOMAIN: ""}
    for field in wire.fields(message.value):
        if field.number in found and field.kind == BYTES:
            found[field.number] = found[field.number] or text(wire.take(field))
    return _Node(found[OPERATOR], found[DOMAIN], found[OUTPUT])
